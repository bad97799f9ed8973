import type { RawLog } from '../domain/envelope.ts'
import type { LaunchEvent, PoolCreated, PoolEvent, TokenEvent } from './events.ts'
import type { DexDeployment, FindPools, Identify, Protocol } from './protocol.ts'
import { PROTOCOLS } from './protocols.ts'

/** An exchange with its protocol. */
export type Deployed = DexDeployment & { readonly is: Protocol }

/** A contract that announces new pools or launches. */
export type Announcer = {
  readonly factory: string
  readonly from: number
  readonly topics: readonly string[]
}

/** An exchange that an unknown pool may belong to. */
export type Candidate = {
  readonly identify: Identify
  readonly findPools?: FindPools | undefined
  readonly deployments: readonly DexDeployment[]
}

/**
 * The relevant contracts and events of a chain, by block. A pool is recognized by its factory, never by its events,
 * because anyone can emit a Swap.
 */
export class DexRegistry {
  readonly #byFactory = new Map<string, Deployed[]>()
  /** Protocols by topic, for pools with a contract of their own. */
  readonly #byTopic = new Map<string, Map<Protocol, Deployed[]>>()

  /** Topics by which factories announce pools. */
  readonly #announcing = new Set<string>()
  /** Topics by which launch platforms report tokens. */
  readonly #ofTokens = new Set<string>()

  #lastRead:
    | { readonly log: RawLog; readonly is: Protocol; readonly event: PoolEvent | undefined }
    | undefined

  constructor(deployments: readonly DexDeployment[]) {
    for (const deployment of deployments) {
      const is = PROTOCOLS[deployment.protocol]
      if (is === undefined) throw new Error(`no such protocol: ${deployment.protocol}`)
      const deployed = { ...deployment, is }
      const platform = is.platformOf === undefined ? undefined : deployment.deployer
      append(this.#byFactory, platform ?? deployment.factory, deployed)
      for (const topic of Object.keys(is.announcements)) this.#announcing.add(topic)
      for (const topic of Object.keys(is.tokenEvents ?? {})) this.#ofTokens.add(topic)
      if (is.isSingleton) continue
      for (const topic of Object.keys(is.events)) {
        const protocols = this.#byTopic.get(topic) ?? new Map<Protocol, Deployed[]>()
        append(protocols, is, deployed)
        this.#byTopic.set(topic, protocols)
      }
    }
  }

  /** Where and by which events pools and launches are announced, from the block on in which the first row of a factory begins. */
  get announcers(): Announcer[] {
    const found = new Map<string, { from: number; topics: Set<string> }>()
    for (const { factory, fromBlock, is } of [...this.#byFactory.values()].flat()) {
      const from = Math.min(fromBlock ?? 0, found.get(factory)?.from ?? Number.MAX_SAFE_INTEGER)
      const own = [...Object.keys(is.announcements), ...Object.keys(is.launchEvents ?? {})]
      const topics = new Set([...(found.get(factory)?.topics ?? []), ...own])
      if (topics.size > 0) found.set(factory, { from, topics })
    }
    return Array.from(found, ([factory, { from, topics }]) => ({ factory, from, topics: [...topics] }))
  }

  /** The exchange of this factory at a block. */
  deploymentOf(factory: string, block: number): Deployed | undefined {
    const all = this.#byFactory.get(factory)
    if (all === undefined) return undefined
    for (const deployed of all) if (isValid(deployed, block)) return deployed
    return undefined
  }

  /**
   * Where `deploymentOf` finds the exchange of a new pool that this log mentions: its platform, if a row of the settings
   * names it, otherwise the contract that emitted the log.
   */
  factoryOf(log: RawLog, block: number): string {
    const platform = this.deploymentOf(log.address, block)?.is.platformOf?.(log)
    const isListed = platform !== undefined && this.deploymentOf(platform, block)?.factory === log.address
    return isListed ? platform : log.address
  }

  /** The pool this log announces, if an allow-listed factory emitted it. */
  announced(log: RawLog, block: number): PoolCreated | undefined {
    const topic = log.topics[0]
    if (topic === undefined || !this.#announcing.has(topic)) return undefined
    return this.deploymentOf(log.address, block)?.is.announcements[topic]?.(log)
  }

  /** The launch that this log is about, if an allow-listed platform emitted it. */
  launchIn(log: RawLog, block: number): LaunchEvent | undefined {
    return this.deploymentOf(log.address, block)?.is.launchEvents?.[log.topics[0] ?? '']?.(log)
  }

  /** What an allow-listed launch platform reports about a token. */
  tokenEventOf(log: RawLog, block: number): TokenEvent | undefined {
    const topic = log.topics[0]
    if (topic === undefined || !this.#ofTokens.has(topic)) return undefined
    return this.deploymentOf(log.address, block)?.is.tokenEvents?.[topic]?.(log)
  }

  /** The pool that this log claims to come from. Only its factory can confirm it. */
  poolOf(log: RawLog, block: number): string | undefined {
    const topic = log.topics[0]
    if (topic === undefined) return undefined
    if (this.#byTopic.has(topic)) return log.address
    const is = this.deploymentOf(log.address, block)?.is
    return is?.isSingleton ? this.#read(is, topic, log)?.pool : undefined
  }

  /** The exchanges to query about an unknown pool that this log mentions. */
  candidates(log: RawLog, block: number): Candidate[] {
    const holder = this.deploymentOf(log.address, block)
    if (holder?.is.isSingleton) return [{ identify: holder.is.identify, deployments: [holder] }]
    return [...(this.#byTopic.get(log.topics[0] ?? '') ?? [])].flatMap(([{ identify }, all]) => {
      const deployments = all.filter((deployed) => isValid(deployed, block))
      return deployments.length === 0 ? [] : [{ identify, deployments }]
    })
  }

  /** All exchanges: some identify a pool by its address alone, some find those of a token. */
  candidatesAt(block: number): Candidate[] {
    const protocols = new Map<Protocol, Deployed[]>()
    for (const deployed of [...this.#byFactory.values()].flat())
      if (isValid(deployed, block)) append(protocols, deployed.is, deployed)
    return Array.from(protocols, ([{ identify, findPools }, deployments]) => {
      return { identify, findPools, deployments }
    })
  }

  /** Decodes a log of a pool of this factory. */
  decode(factory: string, log: RawLog, block: number): PoolEvent | undefined {
    const deployment = this.deploymentOf(factory, block)
    return deployment === undefined ? undefined : this.eventOf(deployment, log)
  }

  /** Decodes a log of a pool of this exchange. */
  eventOf({ factory, is }: Deployed, log: RawLog): PoolEvent | undefined {
    const topic = log.topics[0]
    // Events of a singleton's pools count only if the singleton emitted them.
    if (topic === undefined || (is.isSingleton && log.address !== factory)) return undefined
    return this.#read(is, topic, log)
  }

  /** Caches the last result, because `poolOf` is usually followed by `eventOf` for the same log. */
  #read(is: Protocol, topic: string, log: RawLog): PoolEvent | undefined {
    if (this.#lastRead?.log !== log || this.#lastRead.is !== is) {
      this.#lastRead = { log, is, event: is.events[topic]?.(log) }
    }
    return this.#lastRead.event
  }
}

function isValid({ fromBlock, untilBlock }: DexDeployment, block: number): boolean {
  return block >= (fromBlock ?? 0) && block <= (untilBlock ?? Number.MAX_SAFE_INTEGER)
}

function append<Key, Item>(map: Map<Key, Item[]>, key: Key, item: Item): void {
  const items = map.get(key)
  if (items === undefined) map.set(key, [item])
  else items.push(item)
}
