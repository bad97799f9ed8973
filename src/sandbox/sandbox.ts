import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { TERMINAL_FOLDER } from '../lib/terminal-folder.ts'
import { contractAt } from './chain/exchanges.ts'
import type { SandboxPool, SandboxToken } from './chain/places.ts'
import { anvilArguments, type MarketBlock, originArguments, SandboxChain } from './chain/sandbox-chain.ts'
import { DOLLAR } from './market/actions.ts'
import { PROVIDERS } from './market/market-state.ts'
import { chance, type Random, seeded, whole } from './market/random.ts'
import { MarketScript } from './market/script.ts'
import { Roles, SANDBOX_CHAIN, SANDBOX_ROLES, type SandboxRole } from './roles.ts'
import { forgetTemporaryFolder, freePorts, removeAtExit } from './servers/process.ts'
import { type Stack, startStack } from './servers/stack.ts'

export type SandboxOptions = {
  readonly seed?: number
  /** Blocks of history, one a minute. */
  readonly history?: number
  /** The port of the gateway; another one if it is taken. */
  readonly port?: number
  /** Called with what is done next. */
  readonly onProgress?: (step: string) => void
  /** Ends the start. */
  readonly signal?: AbortSignal
}

const WEEK = 10_080
const MINUTE = 60
const FORK_CHANCE = 1 / 60
const DEEPEST_FORK = 4
const POLL_MS = 100
const PROGRESS_BLOCKS = 1_000
/**
 * The writer and the gateway start when this many blocks are left to make. Rows and documents of the blocks before are then
 * written in bulk, each document once.
 */
const LEFT_WHEN_WRITTEN = 1_000

/**
 * A whole service on this machine, and a seeded market on a chain of its own: real servers, every role in a process, real
 * exchanges. `blocks`, `tokens` and `pools` of its chain are what happened.
 */
export class Sandbox {
  /** The node that the chain begins on. */
  readonly origin: Stack
  readonly stack: Stack
  readonly chain: SandboxChain
  readonly roles: Roles
  readonly url: string
  readonly adminPorts: Readonly<Record<SandboxRole, number>>
  readonly apiKey: string
  /** Holds settings, state and logs. */
  readonly dir: string
  readonly #forks: Random

  private constructor(
    parts: Pick<Sandbox, 'origin' | 'stack' | 'chain' | 'roles' | 'url' | 'adminPorts' | 'apiKey' | 'dir'>,
    seed: number,
  ) {
    this.origin = parts.origin
    this.stack = parts.stack
    this.chain = parts.chain
    this.roles = parts.roles
    this.url = parts.url
    this.adminPorts = parts.adminPorts
    this.apiKey = parts.apiKey
    this.dir = parts.dir
    this.#forks = seeded(seed)
  }

  /** Resolves once the gateway serves the last block of the history. */
  static async start(options: SandboxOptions = {}): Promise<Sandbox> {
    const { seed = 1, history = WEEK, port = 8080, onProgress = () => undefined, signal } = options
    const dir = mkdtempSync(join(tmpdir(), 'chaintape-sandbox-'))
    removeAtExit(dir)
    const now = Math.floor(Date.now() / 1_000 / MINUTE) * MINUTE
    const first = now - history * MINUTE
    const stops: (() => Promise<void> | void)[] = [() => removeFolder(dir)]
    try {
      onProgress('Starting NATS, Redis, ClickHouse and anvil')
      const origin = await startStack({ services: ['anvil'], anvil: originArguments(first - 2 * MINUTE) })
      stops.unshift(() => origin.stop())
      const stack = await startStack({ anvil: anvilArguments(origin.rpcUrl), natsSync: 'lazy' })
      stops.unshift(() => stack.stop())
      const script = new MarketScript({ seed, week: history })
      const chain = await SandboxChain.deploy(stack.rpcUrl, script, first - MINUTE)
      stops.unshift(() => chain.close())
      const [gatewayPort, admin] = [await freePort(port), await freePorts(SANDBOX_ROLES.length)]
      const adminPorts = Object.fromEntries(
        SANDBOX_ROLES.map((role, at) => [role, admin[at] ?? 0]),
      ) as Record<SandboxRole, number>
      const dollar = contractAt(chain.accounts[PROVIDERS.first] ?? '0x', 0)
      const { natsUrls, redisUrl, clickhouseUrl } = stack
      const servers = { natsUrls, redisUrl, clickhouseUrl, rpcUrl: chain.gate.url }
      const settings = { stack: servers, exchanges: chain.exchanges, dollar, port: gatewayPort, adminPorts }
      const roles = new Roles(dir, settings, (role) => onProgress(`${role} ended; starting it again`))
      stops.unshift(() => roles.stop())
      for (const role of ['engine', 'reader'] as const) roles.start(role)
      onProgress(`Making ${history} blocks of history`)
      let made = 0
      const make = async (count: number): Promise<void> => {
        await chain.steps(count, MINUTE, () => {
          signal?.throwIfAborted()
          made++
          if (made % PROGRESS_BLOCKS === 0) onProgress(`${made} of ${history} blocks made`)
        })
      }
      await make(Math.max(0, history - LEFT_WHEN_WRITTEN))
      roles.start('writer')
      const key = startGateway(roles)
      key.catch(() => undefined)
      await make(history - made)
      const url = `http://127.0.0.1:${gatewayPort}`
      const parts = { origin, stack, chain, roles, url, adminPorts, apiKey: await key, dir }
      const sandbox = new Sandbox(parts, seed)
      onProgress('Reading the history')
      await sandbox.caughtUp(signal)
      roles.start('reconciler')
      return sandbox
    } catch (error) {
      for (const stop of stops) await stop()
      throw error
    }
  }

  get tokens(): readonly SandboxToken[] {
    return this.chain.tokens
  }

  get pools(): readonly SandboxPool[] {
    return this.chain.pools
  }

  /** Blocks of the market: now, or so many seconds apart. */
  async step(count = 1, seconds?: number): Promise<readonly MarketBlock[]> {
    const blocks: MarketBlock[] = []
    for (let at = 0; at < count; at++) {
      const time = seconds === undefined ? this.#nextTime() : this.chain.head.time + seconds
      blocks.push(await this.chain.step(time))
    }
    return blocks
  }

  /** Replaces so many new blocks by one more, with other trades. `meanwhile` runs before they are orphaned. */
  async fork(depth: number, meanwhile: () => Promise<void> = async () => undefined): Promise<void> {
    const checkpoint = await this.chain.checkpoint()
    await this.step(depth)
    await meanwhile()
    await this.chain.restore(checkpoint)
    await this.step(depth + 1)
  }

  /** Trades until the signal, so many blocks a second; some blocks are orphaned. */
  async run(blocksPerSecond: number, signal: AbortSignal): Promise<void> {
    const pause = () => sleep(1_000 / blocksPerSecond, undefined, { signal }).catch(() => undefined)
    while (!signal.aborted) {
      if (!chance(this.#forks, FORK_CHANCE)) {
        await this.step()
        await pause()
        continue
      }
      const depth = whole(this.#forks, 1, DEEPEST_FORK)
      const checkpoint = await this.chain.checkpoint()
      for (let at = 0; at < depth && !signal.aborted; at++) {
        await this.step()
        await pause()
      }
      await this.chain.restore(checkpoint)
      await this.step(depth + 1)
    }
  }

  /** Resolves once the gateway serves the newest block. */
  async caughtUp(signal?: AbortSignal): Promise<void> {
    const [pool] = this.pools
    const { number, time } = this.chain.head
    for (;;) {
      signal?.throwIfAborted()
      const answer = await this.get(`/v2/pairs/${pool?.id}-${SANDBOX_CHAIN}`).catch(() => undefined)
      const at = answer?.headers
      if (at?.get('X-Block') === `${number}` && at.get('X-Block-Time') === `${time}`) return
      await sleep(POLL_MS, undefined, signal === undefined ? {} : { signal })
    }
  }

  async get(
    path: string,
  ): Promise<{ readonly status: number; readonly headers: Headers; readonly body: unknown }> {
    const answer = await fetch(`${this.url}${path}`, { headers: { 'X-API-KEY': this.apiKey } })
    return { status: answer.status, headers: answer.headers, body: await answer.json() }
  }

  /** Ends every process and removes every file. */
  async stop(): Promise<void> {
    await this.roles.stop()
    this.chain.close()
    await this.stack.stop()
    await this.origin.stop()
    removeFolder(this.dir)
  }

  /** Blocks of one second may have the same time, as on a fast chain. */
  #nextTime(): number {
    return Math.max(Math.floor(Date.now() / 1_000), this.chain.head.time)
  }
}

/** The terminal is there if it was built, as in the package. Returns an API key. */
async function startGateway(roles: Roles): Promise<string> {
  if (existsSync(TERMINAL_FOLDER)) await roles.addTerminal()
  roles.start('gateway')
  return await roles.createKey('sandbox')
}

export function dollarOf({ tokens }: Pick<Sandbox, 'tokens'>): SandboxToken {
  const dollar = tokens.find(({ coin }) => coin === DOLLAR)
  if (dollar === undefined) throw new Error('the sandbox has no dollar')
  return dollar
}

function removeFolder(dir: string): void {
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
  forgetTemporaryFolder(dir)
}

function freePort(preferred: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', () => {
      freePorts(1).then(([port = 0]) => resolve(port), reject)
    })
    probe.listen(preferred, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}
