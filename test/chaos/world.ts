import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { loadConfig } from '../../src/config/load.ts'
import type { Config } from '../../src/config/schema.ts'
import type { ChainHead } from '../../src/domain/chain-head.ts'
import { connectLogs, type Logs } from '../../src/log/connect.ts'
import { contractAt } from '../../src/sandbox/chain/exchanges.ts'
import {
  anvilArguments,
  type BlockRef,
  originArguments,
  SandboxChain,
} from '../../src/sandbox/chain/sandbox-chain.ts'
import { PROVIDERS } from '../../src/sandbox/market/market-state.ts'
import { MarketScript } from '../../src/sandbox/market/script.ts'
import { SANDBOX_CHAIN, SANDBOX_ROLES, type SandboxRole, sandboxConfig } from '../../src/sandbox/roles.ts'
import { forgetTemporaryFolder, freePorts, removeAtExit } from '../../src/sandbox/servers/process.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { type HistoryStore, openHistoryStore } from '../../src/store/clickhouse/history-store.ts'
import { type HotStore, openHotStore } from '../../src/store/redis/hot-store.ts'
import { API_KEY, putTestKey, TEST_PLANS } from '../support/builders/test-key.ts'
import { ClusterLinks } from '../support/rigs/cluster-links.ts'
import { SmallDisk } from '../support/rigs/small-disk.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { MarketLoad } from './market-load.ts'
import { type InstanceName, RoleInstance, type RoleName } from './role-instance.ts'
import { RoleLinks } from './role-links.ts'

const ROLES: Readonly<Record<InstanceName, RoleName>> = {
  'reader-1': 'reader',
  'reader-2': 'reader',
  'engine-1': 'engine',
  'engine-2': 'engine',
  writer: 'writer',
  'gateway-1': 'gateway',
  'gateway-2': 'gateway',
}
export const INSTANCES = Object.keys(ROLES) as readonly InstanceName[]

const MINUTE = 60
/** The server that the tests have takes half a core for the default of ten batches a second. */
const BATCH_MS = 500
/** Half of what recovery may take: the node is near, and its blocks are small. */
const TAKEOVER_MS = 1_000
/** Deeper than any fork. */
export const DEEPEST_FORK = 250
const FINALITY_DEPTH = DEEPEST_FORK + 50
const DISK_MEGABYTES = 2_048
const PATIENCE_MS = 180_000

export const DISKS = ['nats-3', 'clickhouse', 'engine-1', 'reader-1'] as const
export type DiskName = (typeof DISKS)[number]

export type WorldOptions = {
  readonly seed: number
  /** Blocks of history, one a minute. */
  readonly history: number
  /** From block to block after it. */
  readonly blockMs: number
}

/** The sandbox's market on three NATS nodes, with two readers, engines and gateways, each part of which can be disturbed. */
export class ChaosWorld {
  readonly dir: string
  readonly origin: Stack
  readonly stack: Stack
  readonly natsLinks: ClusterLinks
  readonly chain: SandboxChain
  readonly load: MarketLoad
  readonly roles: ReadonlyMap<InstanceName, RoleInstance>
  readonly disks: ReadonlyMap<DiskName, SmallDisk>
  readonly gatewayUrls: readonly string[]
  readonly config: Config
  readonly logs: Logs
  readonly #history: HistoryStore
  readonly #hot: HotStore

  private constructor(
    parts: Pick<
      ChaosWorld,
      | 'dir'
      | 'origin'
      | 'stack'
      | 'natsLinks'
      | 'chain'
      | 'roles'
      | 'disks'
      | 'gatewayUrls'
      | 'config'
      | 'logs'
    >,
    stores: { readonly history: HistoryStore; readonly hot: HotStore },
    blockMs: number,
  ) {
    this.dir = parts.dir
    this.origin = parts.origin
    this.stack = parts.stack
    this.natsLinks = parts.natsLinks
    this.chain = parts.chain
    this.roles = parts.roles
    this.disks = parts.disks
    this.gatewayUrls = parts.gatewayUrls
    this.config = parts.config
    this.logs = parts.logs
    this.load = new MarketLoad(parts.chain, blockMs)
    this.#history = stores.history
    this.#hot = stores.hot
  }

  /** Resolves once both gateways serve the last block of the history. */
  static async start({ seed, history: length, blockMs }: WorldOptions): Promise<ChaosWorld> {
    const dir = mkdtempSync(join(tmpdir(), 'chaintape-chaos-'))
    // Removed after the disks in it: handlers of the exit run in this order.
    const disks = mountDisks(dir)
    removeAtExit(dir)
    const first = Math.floor(Date.now() / 1_000 / MINUTE) * MINUTE - length * MINUTE
    const origin = await startStack({ services: ['anvil'], anvil: originArguments(first - 2 * MINUTE) })
    const natsLinks = await ClusterLinks.open()
    const stack = await startStack({
      ...{ anvil: anvilArguments(origin.rpcUrl), ...natsLinks.stackOptions },
      dataDir: join(dir, 'stack'),
    })
    const chain = await SandboxChain.deploy(
      stack.rpcUrl,
      new MarketScript({ seed, week: length }),
      first - MINUTE,
    )
    const gatewayPorts = await freePorts(2)
    const roles = await openRoles(dir, stack, chain, gatewayPorts)
    const common = createTestCommon()
    const loaded = loadConfig(roles.get('reader-1')?.configFile, {})
    const { natsUrls: urls, redisUrl, clickhouseUrl } = stack
    // Directly, so that a cut between a role and a server is none for the observer.
    const config = {
      ...loaded,
      ...{ nats: { ...loaded.nats, urls }, redis: { ...loaded.redis, url: redisUrl } },
      clickhouse: { ...loaded.clickhouse, url: clickhouseUrl },
    }
    const logs = await connectLogs(config.nats, common)
    await putTestKey(logs)
    // They start, and make their tables, while the market gets its history.
    for (const role of roles.values()) if (role.role !== 'reader') role.start()
    await chain.steps(length, MINUTE, () => undefined)
    for (const role of roles.values()) if (role.role === 'reader') role.start()
    const hot = await openHotStore(config.redis, common)
    const history = openHistoryStore(config.clickhouse, common)
    const gatewayUrls = gatewayPorts.map((port) => `http://127.0.0.1:${port}`)
    const parts = { dir, origin, stack, natsLinks, chain, roles, disks, gatewayUrls, config, logs }
    const world = new ChaosWorld(parts, { history, hot }, blockMs)
    await world.reaches(chain.head, PATIENCE_MS)
    return world
  }

  get tokens(): SandboxChain['tokens'] {
    return this.chain.tokens
  }

  get pools(): SandboxChain['pools'] {
    return this.chain.pools
  }

  role(name: InstanceName): RoleInstance {
    const role = this.roles.get(name)
    if (role === undefined) throw new Error(`there is no ${name}`)
    return role
  }

  /** Resolves once both gateways serve a block, and both stores have it. */
  async reaches(block: BlockRef, limitMs = PATIENCE_MS): Promise<void> {
    await Promise.all([this.serves(block, 'both', limitMs), this.stores(block, limitMs)])
  }

  async serves({ number }: BlockRef, gateways: 'one' | 'both', limitMs = PATIENCE_MS): Promise<void> {
    const look = async (): Promise<true | undefined> => {
      const served = await Promise.all(this.gatewayUrls.map((url) => this.#servedBy(url)))
      const isThere = (block: number): boolean => block >= number
      return (gateways === 'one' ? served.some(isThere) : served.every(isThere)) ? true : undefined
    }
    await waitFor(`block ${number} to be served by ${gateways}`, look, limitMs)
  }

  async stores({ number }: BlockRef, limitMs = PATIENCE_MS): Promise<void> {
    const look = async (): Promise<true | undefined> =>
      (await this.storeHeads()).every((head) => (head?.number ?? 0) >= number) ? true : undefined
    await waitFor(`both stores to have block ${number}`, look, limitMs)
  }

  /** The heads of Redis and ClickHouse; undefined while one is away. */
  async storeHeads(): Promise<(ChainHead | undefined)[]> {
    return await Promise.all(
      [this.#hot.head(SANDBOX_CHAIN), this.#history.marker(SANDBOX_CHAIN)].map((head) =>
        head.catch(() => undefined),
      ),
    )
  }

  async get(
    path: string,
    url = this.gatewayUrls[0],
  ): Promise<{ readonly status: number; readonly body: unknown }> {
    const answer = await fetch(`${url}${path}`, { headers: { 'X-API-KEY': API_KEY } })
    return { status: answer.status, body: await answer.json() }
  }

  /** Ends every process, and removes every file unless they are to be looked at. */
  async stop(isKept: boolean): Promise<void> {
    await this.load.stop().catch(() => undefined)
    await Promise.all([...this.roles.values()].map((role) => role.stop('SIGKILL')))
    await Promise.all([...this.roles.values()].map((role) => role.links.close()))
    await Promise.all([this.logs.close(), this.#history.close(), this.#hot.close()])
    this.chain.close()
    await Promise.all([this.stack.stop(), this.origin.stop()])
    await this.natsLinks.close()
    for (const disk of this.disks.values()) {
      if (isKept) disk.keep()
      else disk.unmount()
    }
    if (!isKept) rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 })
    forgetTemporaryFolder(this.dir)
  }

  /** The block of a gateway's answers; none while it cannot be asked. */
  async #servedBy(url: string): Promise<number> {
    try {
      const answer = await fetch(`${url}/v2/pairs/${this.pools[0]?.id}-${SANDBOX_CHAIN}`, {
        headers: { 'X-API-KEY': API_KEY },
        signal: AbortSignal.timeout(1_000),
      })
      await answer.text()
      return answer.status === 200 ? Number(answer.headers.get('X-Block')) : 0
    } catch {
      return 0
    }
  }
}

/** A small disk for each place that may be full; none if this machine does not permit them. */
function mountDisks(dir: string): Map<DiskName, SmallDisk> {
  const places: Readonly<Record<DiskName, string>> = {
    'nats-3': join(dir, 'stack/nats-3'),
    clickhouse: join(dir, 'stack/clickhouse'),
    'engine-1': join(dir, 'engine-1/data/engine'),
    'reader-1': join(dir, 'reader-1/data/reader'),
  }
  const disks = new Map<DiskName, SmallDisk>()
  for (const [name, place] of Object.entries(places) as [DiskName, string][]) {
    const disk = SmallDisk.mount(join(dir, 'disks', name), DISK_MEGABYTES)
    if (disk === undefined) break
    disks.set(name, disk)
    mkdirSync(dirname(place), { recursive: true })
    symlinkSync(disk.folder, place)
  }
  return disks
}

async function openRoles(
  dir: string,
  stack: Stack,
  { exchanges, accounts, gate }: SandboxChain,
  gatewayPorts: readonly number[],
): Promise<Map<InstanceName, RoleInstance>> {
  const adminPorts = await freePorts(INSTANCES.length)
  const dollar = contractAt(accounts[PROVIDERS.first] ?? '0x', 0)
  const roles = new Map<InstanceName, RoleInstance>()
  for (const [at, name] of INSTANCES.entries()) {
    const links = await RoleLinks.open({ ...stack, rpcUrl: gate.url })
    const own = join(dir, name)
    const adminPort = adminPorts[at] ?? 0
    const ofRole = Object.fromEntries(SANDBOX_ROLES.map((role) => [role, adminPort])) as Record<
      SandboxRole,
      number
    >
    const port = gatewayPorts[name === 'gateway-2' ? 1 : 0] ?? 0
    const base = sandboxConfig(own, { stack: links.urls, exchanges, dollar, port, adminPorts: ofRole })
    const config = {
      ...base,
      nats: { urls: links.urls.natsUrls, replicas: 3 },
      writer: { max_batch_ms: BATCH_MS },
      ...{ reader: { takeover_ms: TAKEOVER_MS }, engine: { takeover_ms: TAKEOVER_MS } },
      plans: TEST_PLANS,
      chains: {
        [SANDBOX_CHAIN]: { ...base.chains[SANDBOX_CHAIN], finality_depth: FINALITY_DEPTH, poll_ms: 50 },
      },
    }
    const parts = { name, role: ROLES[name], dir: own, adminPort, links, config }
    roles.set(name, new RoleInstance({ ...parts, compileCache: join(dir, 'compiled') }))
  }
  return roles
}
