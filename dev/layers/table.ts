/** What each folder of src may import of ours; every folder may import from inside itself. */
export const allowedImports: ReadonlyMap<string, readonly string[]> = new Map([
  ['domain', []],
  ['lib', []],
  ['wire', ['domain']],
  ['state', ['domain', 'wire']],
  ['dex', ['domain']],
  ['engine', ['domain', 'wire', 'state', 'dex']],
  ['chain', ['domain', 'wire', 'state', 'lib', 'dex']],
  ['log', ['domain', 'wire', 'lib']],
  ['store', ['domain', 'wire', 'state', 'lib']],
  ['gateway', ['domain', 'wire', 'lib', 'store', 'log']],
  ['config', ['domain', 'lib']],
  ['sandbox', ['lib']],
  [
    'roles',
    [
      ...['domain', 'wire', 'state', 'lib', 'dex', 'engine', 'chain', 'log', 'store', 'gateway', 'config'],
      'sandbox',
    ],
  ],
  ['main.ts', ['roles', 'config', 'lib', 'domain']],
])

export const pureFolders: ReadonlySet<string> = new Set(['domain', 'wire', 'state', 'dex', 'engine'])
export const pureFiles: ReadonlySet<string> = new Set(['src/chain/link.ts'])

/** Named imports of packages and builtins that are pure, by the folder that may use them. */
export const purePackageImports: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>> = new Map([
  ['domain', new Map([['node:zlib', ['crc32']]])],
  ['dex', new Map([['viem', ['keccak256', 'Hex']]])],
  ['wire', new Map([['node:zlib', ['constants', 'crc32', 'zstdCompressSync', 'zstdDecompressSync']]])],
  ['engine', new Map([['node:zlib', ['crc32']]])],
])

/** The gateway reads: the names that design.md gives to the writing parts of log and store are closed to it. */
export const writerPathSegment = /^(write|publish|migrat)/

export const testOnlyPackages: ReadonlySet<string> = new Set([
  'fast-check',
  'node:test',
  'node:test/reporters',
])

export const forbiddenFolderNames: ReadonlySet<string> = new Set(['utils', 'helpers'])

export const ownPackageName = 'chaintape'
