import type { Import } from './imports.ts'
import type { SourceFile } from './source.ts'

export interface Edge {
  from: string
  to: string
  /** The import that makes the edge. */
  file: string
  offset: number
}

export function fileEdges(sources: Map<SourceFile, Import[]>): Edge[] {
  const edges: Edge[] = []
  for (const [file, imports] of sources) {
    if (file.isTest) continue
    for (const { target, offset } of imports) {
      if (target?.startsWith('src/')) edges.push({ from: file.path, to: target, file: file.path, offset })
    }
  }
  return edges
}

/**
 * The folders of an edge are the two siblings where the paths part: a folder may exchange with the files of its
 * parent (dex/registry.ts and dex/evm/), two sibling folders may depend on each other in one direction only.
 */
export function folderEdges(edges: Edge[]): Edge[] {
  return edges.flatMap((edge) => {
    const from = edge.from.split('/')
    const to = edge.to.split('/')
    let depth = 0
    while (from[depth] === to[depth] && depth < from.length) depth++
    const areFolders = depth < from.length - 1 && depth < to.length - 1
    const upTo = (parts: string[]) => parts.slice(0, depth + 1).join('/')
    return areFolders ? [{ ...edge, from: upTo(from), to: upTo(to) }] : []
  })
}

/** At least one cycle of every tangle; the last edge of each is the one that closes it. */
export function findCycles(edges: Edge[]): Edge[][] {
  const outgoing = new Map<string, Map<string, Edge>>()
  for (const edge of edges) {
    const targets = outgoing.get(edge.from) ?? new Map<string, Edge>()
    if (!targets.has(edge.to)) targets.set(edge.to, edge)
    outgoing.set(edge.from, targets)
  }
  const cycles: Edge[][] = []
  const finished = new Set<string>()
  const trail: Edge[] = []
  const visit = (node: string) => {
    for (const edge of outgoing.get(node)?.values() ?? []) {
      const start = edge.to === node ? trail.length : trail.findIndex(({ from }) => from === edge.to)
      if (start !== -1) cycles.push([...trail.slice(start), edge])
      else if (!finished.has(edge.to)) {
        trail.push(edge)
        visit(edge.to)
        trail.pop()
      }
    }
    finished.add(node)
  }
  for (const node of outgoing.keys()) {
    if (!finished.has(node)) visit(node)
  }
  return cycles
}
