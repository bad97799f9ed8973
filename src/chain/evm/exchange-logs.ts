import type { Protocol } from '../../dex/protocol.ts'
import { EVM_PROTOCOLS } from '../../dex/protocols.ts'
import type { DexDeployment } from '../../domain/chain-settings.ts'
import type { RawLog } from '../../domain/envelope.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import type { Asker } from '../facts/asker.ts'
import { runInquiries } from '../facts/pool-inquiries.ts'
import { invalid, shaped, toFoundLog } from './proof/block-logs.ts'
import type { LogFilter } from './rpc/history-rpc.ts'
import type { EvmNode, EvmNodes } from './rpc/rpc.ts'

/** A log of an exchange, as a node reports it. Only the receipts of its block prove it. */
export type ExchangeLog = { readonly block: number; readonly log: RawLog; readonly dex: DexDeployment }

export type FoundLogs = {
  readonly logs: readonly ExchangeLog[]
  /** Nodes that reported them. */
  readonly labels: ReadonlySet<string>
}

type Nodes = Pick<EvmNodes, 'verified' | 'elsewhere' | 'blockByNumber'>
type FoundLog = RawLog & { readonly block: number }
type Deployed = { readonly dex: DexDeployment; readonly is: Protocol }

const FIRST_BLOCK = 1
/** Blocks per request: at first, and at most. */
const FIRST_SPAN = 10_000
const MAX_SPAN = 1_000_000
const FEW_LOGS = 1_000
/** More pools than this are found by topic alone. */
const MAX_POOLS = 2_000
const POOLS_PER_REQUEST = 500

/**
 * Finds the logs of exchanges in the past by address and topic: those of factories and singletons, and those of the pools
 * that the factories announced. All endpoints are asked, because nothing proves that a list of logs is complete.
 */
export class ExchangeLogs {
  readonly #nodes: Nodes
  readonly #asker: Asker
  /** The exchange of each pool with a contract of its own. */
  readonly #pools = new Map<string, Deployed>()
  readonly #foreign = new Set<string>()
  #span = FIRST_SPAN

  constructor(nodes: Nodes, asker: Asker) {
    this.#nodes = nodes
    this.#asker = asker
  }

  /** Learns the pools that were created up to a block; call it before `find` for the blocks after. */
  async findPools(dexes: readonly DexDeployment[], upTo: number): Promise<void> {
    const announcing = dexes.map(deployed).filter(({ is }) => !is.isSingleton)
    const topics = announcing.flatMap(({ is }) => Object.keys(is.announcements))
    if (topics.length === 0) return
    const address = announcing.map(({ dex }) => dex.factory)
    const { logs } = await this.#logs({ address, topics, from: FIRST_BLOCK, to: upTo })
    for (const log of logs) this.#learnPool(log, announcing)
  }

  /** Ranges follow each other, because a pool may be announced in one and traded in the next. */
  async find(dexes: readonly DexDeployment[], from: number, to: number): Promise<FoundLogs> {
    const all = dexes.map(deployed)
    const ofFactories = await this.#logs({ ...factoryFilter(all), from, to })
    for (const log of ofFactories.logs) this.#learnPool(log, all)
    const pooled = all.filter(({ is }) => !is.isSingleton)
    const ofPools = await this.#poolLogs(pooled, from, to)
    const logs = [
      ...ofFactories.logs.flatMap((log) =>
        all.filter((each) => isOfFactory(each, log)).map(({ dex }) => ({ block: log.block, log, dex })),
      ),
      ...ofPools.logs,
    ]
    return { logs, labels: new Set([...ofFactories.labels, ...ofPools.labels]) }
  }

  /** Whether a log is one that `find` looks for. */
  selects(log: RawLog, dexes: readonly DexDeployment[]): boolean {
    const pool = this.#pools.get(log.address)
    const isEvent = pool !== undefined && (log.topics[0] ?? '') in pool.is.events
    if (isEvent && dexes.some((dex) => isSameExchange(dex, pool.dex))) return true
    return dexes.some((dex) => isOfFactory(deployed(dex), log))
  }

  async #poolLogs(pooled: readonly Deployed[], from: number, to: number): Promise<FoundLogs> {
    if (pooled.length === 0) return { logs: [], labels: new Set() }
    const topics = [...new Set(pooled.flatMap(({ is }) => Object.keys(is.events)))]
    const isWanted = (pool: Deployed): boolean => pooled.some(({ dex }) => isSameExchange(dex, pool.dex))
    const pools = [...this.#pools].filter(([, pool]) => isWanted(pool)).map(([address]) => address)
    // Pools of a protocol whose factory announces none are recognized when they are asked about.
    const unannounced = pooled.filter(({ is }) => Object.keys(is.announcements).length === 0)
    const filters: LogFilter[] = []
    if (unannounced.length > 0 || pools.length > MAX_POOLS) filters.push({ topics, from, to })
    else
      for (let first = 0; first < pools.length; first += POOLS_PER_REQUEST)
        filters.push({ address: pools.slice(first, first + POOLS_PER_REQUEST), topics, from, to })
    const found: ExchangeLog[] = []
    const labels = new Set<string>()
    for (const filter of filters) {
      const answer = await this.#logs(filter)
      for (const label of answer.labels) labels.add(label)
      for (const log of answer.logs) {
        const pool = this.#pools.get(log.address) ?? (await this.#identify(log, unannounced))
        const topic = log.topics[0] ?? ''
        if (pool !== undefined && isWanted(pool) && topic in pool.is.events)
          found.push({ block: log.block, log, dex: pool.dex })
      }
    }
    return { logs: found, labels }
  }

  #learnPool(log: FoundLog, all: readonly Deployed[]): void {
    for (const each of all) {
      if (each.is.isSingleton || log.address !== each.dex.factory) continue
      const created = each.is.announcements[log.topics[0] ?? '']?.(log)
      if (created !== undefined && !this.#pools.has(created.pool)) this.#pools.set(created.pool, each)
    }
  }

  async #identify(log: FoundLog, unannounced: readonly Deployed[]): Promise<Deployed | undefined> {
    const { address } = log
    const candidates = unannounced.filter(({ is }) => (log.topics[0] ?? '') in is.events)
    if (candidates.length === 0 || this.#foreign.has(address)) return undefined
    const block = await this.#nodes.blockByNumber(log.block)
    if (block === null || block.hash === null)
      throw invalid(`the node lacks block ${log.block} of its own log`)
    const { hash, parentHash } = block
    const inquiries = candidates.map(({ is, dex }) => is.identify(address, [dex], log))
    const answers = await runInquiries(this.#asker, inquiries, {
      number: log.block,
      hash,
      parentHash,
      time: 0,
    })
    const found = candidates.find((_, index) => answers[index] !== undefined)
    if (found === undefined) this.#foreign.add(address)
    else this.#pools.set(address, found)
    return found
  }

  /** In ranges that the nodes accept; in the order of the chain, each once. */
  async #logs(filter: LogFilter): Promise<{ logs: FoundLog[]; labels: ReadonlySet<string> }> {
    const all: FoundLog[] = []
    const labels = new Set<string>()
    let { from } = filter
    if (filter.topics.length === 0) return { logs: all, labels }
    while (from <= filter.to) {
      const to = Math.min(filter.to, from + this.#span - 1)
      try {
        const { logs, label } = await this.#ask({ ...filter, from, to })
        // Not spread into a call, because there may be more than a call takes arguments.
        for (const log of logs) all.push(log)
        labels.add(label)
        if (logs.length < FEW_LOGS) this.#span = Math.min(MAX_SPAN, this.#span * 2)
        from = to + 1
      } catch (error) {
        const isTooLarge = error instanceof ChaintapeError && error.code === 'node_answer_too_large'
        if (!isTooLarge || from === to) throw error
        this.#span = Math.ceil((to - from + 1) / 4)
      }
    }
    return { logs: all, labels }
  }

  async #ask(filter: LogFilter): Promise<{ logs: FoundLog[]; label: string }> {
    const logsOf = async (node: EvmNode): Promise<FoundLog[]> => {
      const logs = await node.pastLogs(filter)
      return shaped(() => logs.map((log) => toFoundLog(log, filter)))
    }
    const { label, logs } = await this.#nodes.verified(async (node) => ({
      label: node.label,
      logs: await logsOf(node),
    }))
    const others = await this.#nodes.elsewhere(label, logsOf)
    const found = new Map<string, FoundLog>()
    for (const log of [logs, ...others.answers].flat())
      found.set(`${log.block}/${log.index}/${log.address}/${log.topics[0]}`, log)
    return {
      label,
      logs: [...found.values()].sort((one, other) => one.block - other.block || one.index - other.index),
    }
  }
}

/** Whether two rows of the settings differ only in their names and ranges of blocks. */
export function isSameExchange(one: DexDeployment, other: DexDeployment): boolean {
  return one.factory === other.factory && one.protocol === other.protocol
}

function factoryFilter(all: readonly Deployed[]): Pick<LogFilter, 'address' | 'topics'> {
  const address = [...new Set(all.map(({ dex }) => dex.factory))]
  return { address, topics: [...new Set(all.flatMap(factoryTopics))] }
}

function factoryTopics({ is }: Deployed): string[] {
  const { announcements, tokenEvents = {}, events, isSingleton } = is
  return [announcements, tokenEvents, isSingleton ? events : {}].flatMap((readers) => Object.keys(readers))
}

function isOfFactory(deployed: Deployed, log: RawLog): boolean {
  return log.address === deployed.dex.factory && factoryTopics(deployed).includes(log.topics[0] ?? '')
}

function deployed(dex: DexDeployment): Deployed {
  const is = EVM_PROTOCOLS[dex.protocol]
  if (is === undefined) throw new Error(`no such protocol: ${dex.protocol}`)
  return { dex, is }
}
