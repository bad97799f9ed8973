import { existsSync } from 'node:fs'
import path from 'node:path'
import { type Edge, fileEdges, findCycles, folderEdges } from './layers/cycles.ts'
import { checkImports, type Import, readImports } from './layers/imports.ts'
import { checkMoney } from './layers/money.ts'
import { checkPurity } from './layers/purity.ts'
import { layerOf, readSource, type SourceFile, type Violation, walk } from './layers/source.ts'
import { allowedImports, forbiddenFolderNames } from './layers/table.ts'

const codeRoots = ['src', 'test', 'dev', 'bench']

export function checkLayers(root: string): Violation[] {
  const violations: Violation[] = []
  const add = (file: string, line: number, rule: string, message: string) => {
    violations.push({ file, line, rule, message })
  }

  for (const folder of codeRoots.flatMap((start) => foldersUnder(root, start))) {
    if (!forbiddenFolderNames.has(path.posix.basename(folder))) continue
    add(folder, 1, 'folder-name', 'name the folder after what it holds')
  }

  const sources = new Map<SourceFile, Import[]>()
  for (const filePath of existsSync(path.join(root, 'src')) ? walk(root, 'src').files : []) {
    if (!allowedImports.has(layerOf(filePath))) {
      add(filePath, 1, 'unknown-layer', `src/${layerOf(filePath)} is not in dev/layers/table.ts`)
    }
    if (/\.([cm]?jsx?|[cm]ts|tsx)$/.test(filePath)) add(filePath, 1, 'file-type', 'sources are .ts files')
    if (!filePath.endsWith('.ts')) continue

    const file = readSource(root, filePath)
    const report = (offset: number, rule: string, message: string) => {
      add(filePath, file.lineAt(offset), rule, message)
    }
    for (const error of file.parsed.errors) report(error.labels[0]?.start ?? 0, 'syntax', error.message)
    const imports = readImports(file, report)
    sources.set(file, imports)
    checkImports(file, imports, report)
    if (!file.isPure) continue
    checkPurity(file, report)
    checkMoney(file, report)
  }
  // A gate that looked at nothing must not be green.
  if (sources.size === 0) add('src', 1, 'no-sources', 'there is nothing to check')

  const lines = new Map([...sources.keys()].map((file) => [file.path, file.lineAt]))
  const edges = fileEdges(sources)
  const addCycles = (rule: string, cycles: Edge[][]) => {
    for (const cycle of cycles) {
      const closing = cycle.at(-1)
      if (!closing) continue
      const trail = [...cycle.map(({ from }) => from), closing.to].join(' -> ')
      add(closing.file, lines.get(closing.file)?.(closing.offset) ?? 1, rule, trail)
    }
  }
  addCycles('file-cycle', findCycles(edges))
  addCycles('folder-cycle', findCycles(folderEdges(edges)))
  return violations
}

function foldersUnder(root: string, start: string): string[] {
  return existsSync(path.join(root, start)) ? walk(root, start).folders : []
}

if (import.meta.main) {
  const root = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, '..'))
  const violations = checkLayers(root)
  for (const { file, line, rule, message } of violations) console.log(`${file}:${line}: ${rule}: ${message}`)
  console.log(violations.length === 0 ? 'layers: ok' : `layers: ${violations.length} violations`)
  process.exitCode = violations.length === 0 ? 0 : 1
}
