import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { GATEWAY_FLAGS } from '../lib/launch-flags.ts'
import type { Exchanges } from './chain/exchanges.ts'
import {
  isAlive,
  type ProcessPlan,
  type RunningProcess,
  signalProcess,
  startProcess,
} from './servers/process.ts'
import type { Stack } from './servers/stack.ts'

export const SANDBOX_ROLES = ['reader', 'engine', 'writer', 'gateway', 'reconciler'] as const
export type SandboxRole = (typeof SANDBOX_ROLES)[number]

export const SANDBOX_CHAIN = 'local'

const MAIN = fileURLToPath(new URL(`../main${extname(import.meta.url)}`, import.meta.url))
const MAIN_ARGS = ['--max-semi-space-size=32', MAIN]
const RESTART_MS = 300
const TERMINAL_PLAN = 'terminal'

export type Settings = {
  readonly stack: Pick<Stack, 'natsUrls' | 'redisUrl' | 'clickhouseUrl' | 'rpcUrl'>
  readonly exchanges: Exchanges
  readonly dollar: string
  readonly port: number
  readonly adminPorts: Readonly<Record<SandboxRole, number>>
}

type SandboxConfig = Readonly<Record<string, object | string>> & {
  readonly chains: Readonly<Record<typeof SANDBOX_CHAIN, object>>
}

/** The roles of the sandbox, each a process that is started again if it ends. */
export class Roles {
  readonly configFile: string
  readonly #dir: string
  readonly #settings: Settings
  readonly #running = new Map<SandboxRole, RunningProcess>()
  readonly #onRestart: (role: SandboxRole) => void
  readonly #stop = new AbortController()

  /** `onRestart` is called when a role has ended by itself. */
  constructor(dir: string, settings: Settings, onRestart: (role: SandboxRole) => void) {
    this.#dir = dir
    this.#onRestart = onRestart
    this.#settings = settings
    this.configFile = join(dir, 'chaintape.yaml')
    this.#writeConfig()
  }

  get #stopping(): AbortSignal {
    return this.#stop.signal
  }

  start(role: SandboxRole): void {
    const flags = role === 'gateway' ? GATEWAY_FLAGS : []
    const port = this.#settings.adminPorts[role]
    const plan: ProcessPlan = {
      name: role,
      command: process.execPath,
      args: [...flags, ...MAIN_ARGS, role, '--config', this.configFile],
      env: unsetSettings(),
      logFile: join(this.#dir, `${role}.log`),
      ports: [port],
      isReady: async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok,
    }
    const running = startProcess(plan)
    this.#running.set(role, running)
    running.child.once('exit', () => {
      if (this.#stopping.aborted) return
      setTimeout(() => {
        if (this.#stopping.aborted) return
        this.#onRestart(role)
        this.start(role)
      }, RESTART_MS)
    })
  }

  get pids(): Readonly<Record<string, number>> {
    const alive = [...this.#running.values()].filter(isAlive)
    return Object.fromEntries(alive.map(({ plan, pid }) => [plan.name, pid]))
  }

  /** Ends a role's process; it is started again. */
  async kill(role: SandboxRole, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const running = this.#running.get(role)
    if (running !== undefined) await signalProcess(running, signal)
  }

  /** Before the gateway starts: it then serves the web terminal, with a public key of its own plan. */
  async addTerminal(): Promise<void> {
    this.#writeConfig(await this.createKey('terminal', TERMINAL_PLAN))
  }

  #writeConfig(publicKey?: string): void {
    writeFileSync(this.configFile, stringify(sandboxConfig(this.#dir, this.#settings, publicKey)))
  }

  /** As an operator does. */
  async createKey(name: string, plan = 'default'): Promise<string> {
    const args = [...MAIN_ARGS, 'keys', 'create', '--name', name, '--plan', plan, '--config', this.configFile]
    const env = { ...process.env, ...unsetSettings() }
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
    const end = (): void => void child.kill('SIGKILL')
    process.once('exit', end)
    this.#stopping.addEventListener('abort', end)
    try {
      const exited = once(child, 'exit')
      const [key, notes] = await Promise.all([text(child.stdout), text(child.stderr)])
      await exited
      if (child.exitCode !== 0) throw new Error(`no key was created: ${notes}`)
      return key.trim()
    } finally {
      process.removeListener('exit', end)
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    // Data that is thrown away needs no orderly end.
    await Promise.all([...this.#running.values()].map((running) => signalProcess(running, 'SIGKILL')))
  }
}

/** The configuration of roles that read the sandbox's chain. With a public key, the gateway serves the web terminal. */
export function sandboxConfig(
  dir: string,
  { stack, exchanges, dollar, port, adminPorts }: Settings,
  publicKey?: string,
): SandboxConfig {
  const { weth, v2Factory, v3Factory, v4Manager, launchpad } = exchanges
  return {
    data_dir: join(dir, 'data'),
    nats: { urls: stack.natsUrls },
    clickhouse: { url: stack.clickhouseUrl },
    redis: { url: stack.redisUrl },
    gateway: { port, ...(publicKey === undefined ? {} : { terminal: { api_key: publicKey } }) },
    plans: {
      default: {},
      // All visitors of the terminal share its key.
      [TERMINAL_PLAN]: { requests_per_second: 200, burst: 1_000, sockets: { connections: 200, replays: 20 } },
    },
    // Few large batches: the gateway serves newer blocks from the log.
    writer: { max_batch_ms: 1_000 },
    admin: Object.fromEntries(SANDBOX_ROLES.map((role) => [`${role}_port`, adminPorts[role]])),
    chains: {
      [SANDBOX_CHAIN]: {
        rpc_urls: [stack.rpcUrl],
        quote_assets: [
          { address: dollar, kind: 'stable' },
          { address: weth, kind: 'native' },
          { address: `0x${'0'.repeat(40)}`, kind: 'native' },
        ],
        dexes: [
          { amm: 'uniswap_v2', protocol: 'uniswap_v2', factory: v2Factory },
          { amm: 'uniswap_v3', protocol: 'uniswap_v3', factory: v3Factory },
          { amm: 'uniswap_v4', protocol: 'uniswap_v4', factory: v4Manager },
          { amm: 'fourmeme', protocol: 'four_meme', factory: launchpad },
        ],
      },
    },
  }
}

/** Settings of the shell would override those of the sandbox. */
function unsetSettings(): Record<string, undefined> {
  const names = Object.keys(process.env).filter((name) => name.startsWith('CHAINTAPE_'))
  return Object.fromEntries(names.map((name) => [name, undefined]))
}
