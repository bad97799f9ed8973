import { accessSync, constants } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where dev/setup puts programs in a clone. */
const TOOLS = ['redis/bin', 'nats/usr/sbin'].map((folder) =>
  fileURLToPath(new URL(`../../../dev/.tools/${folder}`, import.meta.url)),
)

const require = createRequire(import.meta.url)

export type Program = 'nats-server' | 'redis-server' | 'anvil' | 'chdb'

const INSTALL: Readonly<Record<Program, string>> = {
  'nats-server': 'nats-server 2.10 or newer on PATH (brew install nats-server; apt-get install nats-server)',
  'redis-server':
    'valkey-server 8 or redis-server 7 on PATH (brew install valkey; apt-get install redis-server)',
  anvil: 'anvil: npm install @foundry-rs/anvil@1.7.1, or Foundry on PATH',
  chdb: "chdb, ClickHouse's engine: npm install chdb@3.4.0 (540 MB)",
}

/** Programs of the local servers that cannot be found, with how to install them. */
export function missingPrograms(): string[] {
  const isThere: Readonly<Record<Program, () => boolean>> = {
    'nats-server': () => findProgram('nats-server') !== undefined,
    'redis-server': () => findProgram('valkey-server', 'redis-server') !== undefined,
    anvil: () => anvilProgram() !== undefined,
    chdb: () => packageFolder('chdb') !== undefined,
  }
  return (Object.keys(INSTALL) as Program[]).filter((name) => !isThere[name]()).map((name) => INSTALL[name])
}

/** The first of these that is on PATH, or that dev/setup has installed. */
export function findProgram(...names: readonly string[]): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...TOOLS]
  for (const name of names) {
    const folder = folders.find((one) => isExecutable(join(one, name)))
    if (folder !== undefined) return join(folder, name)
  }
  return undefined
}

/** The package's own launcher is a script around this program: a signal would end the script, not the node. */
export function anvilProgram(): string | undefined {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch
  const folder = packageFolder(`@foundry-rs/anvil-${process.platform}-${architecture}`)
  const program = folder === undefined ? '' : join(folder, 'bin', 'anvil')
  return isExecutable(program) ? program : findProgram('anvil')
}

function packageFolder(name: string): string | undefined {
  try {
    return dirname(require.resolve(`${name}/package.json`))
  } catch {
    // Not installed, or not made for this platform.
    return undefined
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
