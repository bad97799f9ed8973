import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { MAIN_ARGS } from '../../dev/main-args.ts'
import { freePorts } from '../../src/sandbox/servers/process.ts'
import { environmentWithoutSettings } from '../support/rigs/pipeline.ts'
import type { Block } from './blocks.ts'
import type { World } from './world.ts'

export type Outcome = { readonly code: number; readonly stdout: string; readonly stderr: string }

const PAGE_MS = 180_000
/** Servers of an installation: the pages name their usual ports, the tests have others. */
const RPC = 'http://127.0.0.1:8545'
const GATEWAY = 'http://127.0.0.1:8080'

/**
 * `chaintape` as it is installed, except that it does not wait for Ctrl-C: roles continue in the background once they are
 * ready, and `status` shows one reading.
 */
const PROGRAM = `#!/usr/bin/env bash
set -eu
run() { "$DOCS_NODE" $DOCS_MAIN "$@"; }
case "\${1-}" in
  all)
    (exec "$DOCS_NODE" $DOCS_MAIN "$@") >"$DOCS_DIR/all.log" 2>&1 &
    echo $! >>"$DOCS_DIR/pids"
    until run status --once "\${@:2}" >"$DOCS_DIR/status.log" 2>&1; do
      kill -0 $! || { tail -n 5 "$DOCS_DIR/all.log" >&2; exit 1; }
      sleep 0.5
    done ;;
  status) shift; run status --once "$@" ;;
  *) run "$@" ;;
esac
`
/** The package that \`npm install chaintape\` brings is installed by test/package; here it is this source tree. */
const NPM = `#!/usr/bin/env bash
[ "$*" = 'install chaintape' ] || exec "$DOCS_NPM" "$@"
`
const NPX = `#!/usr/bin/env bash
[ "\${1-}" = chaintape ] || { echo "npx $*: no such command here" >&2; exit 1; }
exec "$@"
`

/** The shell blocks of a page, one after the other in one shell and an empty folder; by their lines. */
export async function runPage(
  blocks: readonly Block[],
  world: World,
): Promise<ReadonlyMap<number, Outcome | undefined>> {
  const dir = mkdtempSync(join(tmpdir(), 'chaintape-docs-'))
  try {
    return await runBlocks(blocks, world, dir)
  } finally {
    for (const pid of linesOf(join(dir, 'pids'))) killIfRunning(Number(pid))
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function runBlocks(
  blocks: readonly Block[],
  world: World,
  dir: string,
): Promise<ReadonlyMap<number, Outcome | undefined>> {
  const [bin, home] = [join(dir, 'bin'), join(dir, 'home')]
  for (const folder of [bin, home]) mkdirSync(folder)
  for (const [name, text] of Object.entries({ chaintape: PROGRAM, npm: NPM, npx: NPX }))
    writeFileSync(join(bin, name), text, { mode: 0o755 })
  const isNew = blocks.some(({ text }) => text.includes('chaintape init'))
  const settings = isNew ? await ownInstallation(world) : {}
  if (!isNew) writeFileSync(join(home, 'chaintape.yaml'), readFileSync(world.pipeline.configFile))
  const { gatewayUrl = world.url, ...variables }: Record<string, string> = settings
  const parts = blocks.map(({ line, text }) => {
    const command = text.replaceAll(RPC, world.baseRpcUrl).replaceAll(GATEWAY, gatewayUrl)
    const [out, err] = [join(dir, `${line}.out`), join(dir, `${line}.err`)]
    return `{\n${command}\n} >${out} 2>${err}\necho ${line} >>${join(dir, 'done')}\n`
  })
  const env = {
    ...environmentWithoutSettings(),
    ...world.variables,
    ...variables,
    ...{ DOCS_DIR: dir, DOCS_NODE: process.execPath, DOCS_MAIN: MAIN_ARGS.join(' ') },
    DOCS_NPM: join(process.execPath, '../npm'),
    PATH: [bin, process.env['PATH']].join(delimiter),
  }
  const code = await runBash(`set -eu -o pipefail\n${parts.join('')}`, home, env)
  const done = new Set(linesOf(join(dir, 'done')).map(Number))
  return new Map(
    blocks.map(({ line }) => {
      const [stdout, stderr] = ['out', 'err'].map((end) => textOf(join(dir, `${line}.${end}`)))
      if (stdout === undefined || stderr === undefined) return [line, undefined]
      return [line, { code: done.has(line) ? 0 : code, stdout, stderr }]
    }),
  )
}

/** Settings of an installation beside the world's, over the same servers. */
async function ownInstallation({ stack }: World): Promise<{ gatewayUrl: string } & Record<string, string>> {
  const [port = 0, ...admin] = await freePorts(6)
  const roles = ['READER', 'ENGINE', 'WRITER', 'GATEWAY', 'RECONCILER']
  const name = `docs${port}`
  return {
    gatewayUrl: `http://127.0.0.1:${port}`,
    ...Object.fromEntries(roles.map((role, at) => [`CHAINTAPE_ADMIN_${role}_PORT`, String(admin[at])])),
    ...{ CHAINTAPE_NATS_URLS: stack.natsUrls.join(), CHAINTAPE_NATS_PREFIX: name },
    ...{ CHAINTAPE_REDIS_URL: stack.redisUrl, CHAINTAPE_REDIS_PREFIX: name },
    ...{ CHAINTAPE_CLICKHOUSE_URL: stack.clickhouseUrl, CHAINTAPE_CLICKHOUSE_DATABASE: name },
    CHAINTAPE_GATEWAY_PORT: String(port),
  }
}

function runBash(script: string, cwd: string, env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve) => {
    const options = { cwd, env, timeout: PAGE_MS, maxBuffer: 16 * 1024 * 1024 }
    execFile('bash', ['-c', script], options, (error) => {
      resolve(error === null ? 0 : typeof error.code === 'number' ? error.code : -1)
    })
  })
}

function textOf(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

function linesOf(file: string): string[] {
  return (textOf(file) ?? '').split('\n').filter((line) => line !== '')
}

function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
