import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type ParseResult, parseSync } from 'oxc-parser'
import { pureFiles, pureFolders } from './table.ts'

export interface Violation {
  file: string
  line: number
  rule: string
  message: string
}

export interface SourceFile {
  /** Relative to the root, with forward slashes: src/domain/ids.ts */
  path: string
  /** The folder directly under src, or main.ts. */
  layer: string
  isTest: boolean
  isPure: boolean
  parsed: ParseResult
  lineAt: (offset: number) => number
}

export type Report = (offset: number, rule: string, message: string) => void

export interface Tree {
  files: string[]
  folders: string[]
}

export function walk(root: string, start: string): Tree {
  const tree: Tree = { files: [], folders: [] }
  const pending = [start]
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of readdirSync(path.join(root, folder), { withFileTypes: true })) {
      const entryPath = `${folder}/${entry.name}`
      if (entry.isFile()) tree.files.push(entryPath)
      // Hidden folders hold downloaded tools and running stacks, not sources.
      if (!entry.isDirectory() || entry.name.startsWith('.') || entry.name === 'node_modules') continue
      tree.folders.push(entryPath)
      pending.push(entryPath)
    }
  }
  tree.files.sort()
  tree.folders.sort()
  return tree
}

export function layerOf(filePath: string): string {
  return filePath.split('/')[1] ?? ''
}

export function isTestPath(filePath: string): boolean {
  return filePath.endsWith('.test.ts')
}

export function isPurePath(filePath: string): boolean {
  return pureFolders.has(layerOf(filePath)) || pureFiles.has(filePath)
}

export function readSource(root: string, filePath: string): SourceFile {
  const text = readFileSync(path.join(root, filePath), 'utf8')
  const isTest = isTestPath(filePath)
  return {
    path: filePath,
    layer: layerOf(filePath),
    isTest,
    isPure: !isTest && isPurePath(filePath),
    parsed: parseSync(filePath, text, { lang: 'ts', sourceType: 'module' }),
    lineAt: createLineLookup(text),
  }
}

function createLineLookup(text: string): (offset: number) => number {
  return (offset) => {
    let line = 1
    for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++
    return line
  }
}
