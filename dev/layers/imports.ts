import path from 'node:path'
import { type Expression, Visitor } from 'oxc-parser'
import { isPurePath, isTestPath, layerOf, type Report, type SourceFile } from './source.ts'
import {
  allowedImports,
  ownPackageName,
  purePackageImports,
  testOnlyPackages,
  writerPathSegment,
} from './table.ts'

export interface Import {
  specifier: string
  offset: number
  isTypeOnly: boolean
  /** What is taken by name; '*' and 'default' for the rest. */
  names: string[]
  /** Relative to the root, when the specifier is relative. */
  target: string | undefined
}

export function readImports(file: SourceFile, report: Report): Import[] {
  const imports: Import[] = []
  const add = (specifier: string, offset: number, isTypeOnly: boolean, names: string[]) => {
    const isRelative = specifier.startsWith('./') || specifier.startsWith('../')
    const target = isRelative ? path.posix.join(path.posix.dirname(file.path), specifier) : undefined
    imports.push({ specifier, offset, isTypeOnly, names, target })
  }
  const addDynamic = (source: Expression | undefined, offset: number) => {
    if (source?.type === 'Literal' && typeof source.value === 'string')
      add(source.value, offset, false, ['*'])
    else report(offset, 'dynamic-import', 'a computed import cannot be checked; name the file')
  }

  for (const { moduleRequest, entries, start } of file.parsed.module.staticImports) {
    const names = entries.map(
      ({ importName }) => importName.name ?? (importName.kind === 'Default' ? 'default' : '*'),
    )
    const isTypeOnly = entries.length > 0 && entries.every((entry) => entry.isType)
    add(moduleRequest.value, start, isTypeOnly, names.length > 0 ? names : ['*'])
  }
  for (const { entries } of file.parsed.module.staticExports) {
    for (const { moduleRequest, importName, isType, start } of entries) {
      if (moduleRequest) add(moduleRequest.value, start, isType, [importName.name ?? '*'])
    }
  }
  new Visitor({
    ImportExpression: (node) => addDynamic(node.source, node.start),
    TSImportType: (node) => add(node.source.value, node.start, true, ['*']),
    CallExpression: (node) => {
      if (node.callee.type !== 'Identifier' || node.callee.name !== 'require') return
      const [source] = node.arguments
      addDynamic(source?.type === 'SpreadElement' ? undefined : source, node.start)
    },
  }).visit(file.parsed.program)
  return imports
}

export function checkImports(file: SourceFile, imports: Import[], report: Report): void {
  for (const imported of imports) {
    if (imported.target !== undefined) checkOwnImport(file, imported, imported.target, report)
    else if (isAlias(imported.specifier)) {
      report(
        imported.offset,
        'import-alias',
        `'${imported.specifier}': our own code is imported by relative path`,
      )
    } else checkPackageImport(file, imported, report)
  }
}

function checkOwnImport(file: SourceFile, imported: Import, target: string, report: Report): void {
  if (!target.startsWith('src/')) {
    const isTestSupport = file.isTest && target.startsWith('test/support/')
    if (isTestSupport || target === 'package.json') return
    report(imported.offset, 'outside-import', `src must not import ${target}`)
    return
  }
  if (isTestPath(target)) report(imported.offset, 'test-import', `${target} is a test; nothing imports tests`)

  const targetLayer = layerOf(target)
  if (targetLayer !== file.layer && !allowedImports.get(file.layer)?.includes(targetLayer)) {
    report(imported.offset, 'layer-import', `${file.layer} must not import ${targetLayer} (${target})`)
  } else if (file.isPure && !imported.isTypeOnly && !isPurePath(target)) {
    report(imported.offset, 'pure-import', `pure code must not run ${target}, which is not pure`)
  }
  const [, , ...segments] = target.split('/')
  if (
    file.layer === 'gateway' &&
    targetLayer !== 'gateway' &&
    segments.some((name) => writerPathSegment.test(name))
  ) {
    report(imported.offset, 'gateway-reads', `the gateway only reads; ${target} writes`)
  }
}

function checkPackageImport(file: SourceFile, imported: Import, report: Report): void {
  const { specifier, names, offset } = imported
  if (file.isTest) return
  if (testOnlyPackages.has(specifier))
    report(offset, 'test-only-package', `'${specifier}' belongs in *.test.ts files`)
  else if (file.isPure) {
    const allowedNames = purePackageImports.get(file.layer)?.get(specifier) ?? []
    for (const name of names) {
      if (allowedNames.includes(name)) continue
      report(offset, 'pure-package', `pure code must not import ${name} of '${specifier}'`)
    }
  }
}

function isAlias(specifier: string): boolean {
  if (/^([/#~]|@\/|file:|data:|\.{1,2}$)/.test(specifier)) return true
  const [first = ''] = specifier.split('/')
  return first === 'src' || first === ownPackageName || (first !== specifier && allowedImports.has(first))
}
