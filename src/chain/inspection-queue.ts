import type { PoolKey } from '../dex/protocol.ts'
import type { Fact, RawLog } from '../domain/envelope.ts'
import { ZERO_ADDRESS } from '../domain/known-addresses.ts'
import { JournaledQueue } from '../state/journaled-queue.ts'
import type { JournaledState, Table } from '../state/journaled-state.ts'
import { id, list, record, recurringId, varuint } from '../wire/codec.ts'

/** A contract to inspect in the state after this block, or a later one. */
type Due = { readonly token: string; readonly block: number }

export type KnownPool = { readonly address: string; readonly factory: string; readonly quote: string }

const dueCodec = record<Due>({ token: id, block: varuint })

const keyCodec = list(id)

const poolsCodec = list(record<KnownPool>({ address: id, factory: recurringId, quote: recurringId }))

/** Events after which an inspection is outdated. */
const CONTRACT_CHANGED = new Set([
  /** OwnershipTransferred(address,address) */
  '0x8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e0',
  /** Upgraded(address) */
  '0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b',
  /** BeaconUpgraded(address) */
  '0x1cf3b03a6cf19fa2baba4df148e9dcabedea7f8a5c07840e207e5c089be95d3e',
  /** AdminChanged(address,address) */
  '0x7e644d79422f17c01e4894b5f4f588d331ebfa28653d42ae832dc59e38c9798f',
  /** Paused(address) */
  '0x62e78cea01bee320cd4e420270b5ea74000d11b0c9f74754ebdbfc544b05a258',
  /** Unpaused(address) */
  '0x5db9ee0a495bf2e6ff9c91a7834c1ba4fdd244a5e8aa4e537bd38aeae4b073aa',
])

export function saysItChanged({ topics }: RawLog): boolean {
  return CONTRACT_CHANGED.has(topics[0] ?? '')
}

/**
 * Blocks before each attempt. A new pool often gets its liquidity a little later; each further attempt waits four times
 * as long.
 */
const WAITS = [2, 8, 32, 128, 512, 2_048]
/** A trade is simulated in one of them. */
const MAX_POOLS = 6
/** Contracts of each queue that are inspected concurrently, and finish in any order. */
const AT_ONCE = 4

/** Contracts to inspect next, and the pools of their tokens: a fold of the log, like the whole index. */
export class InspectionQueue {
  /** One queue per delay: contracts with equal delays take turns, and do not hold up those with shorter ones. */
  readonly #attempts: readonly JournaledQueue<Due>[]
  readonly #changed: JournaledQueue<Due>
  /** The block since which a contract is in the queue of changed ones. */
  readonly #changedAt: Table<number>
  readonly #pools: Table<readonly KnownPool[]>
  readonly #keys: Table<PoolKey>

  constructor(state: JournaledState) {
    this.#attempts = WAITS.map((wait) => new JournaledQueue(state, `inspection${wait}`, dueCodec))
    this.#changed = new JournaledQueue(state, 'changed', dueCodec)
    this.#changedAt = state.table('changedAt', { write: (w, at) => w.varuint(at), read: (r) => r.varuint() })
    this.#pools = state.table('poolsOf', poolsCodec)
    this.#keys = state.table('poolKey', keyCodec)
  }

  /** The next contracts that are due, a few from each queue. */
  due(tip: number): string[] {
    return [this.#changed, ...this.#attempts].flatMap((queue) =>
      queue.first(AT_ONCE).flatMap(({ token, block }) => (block <= tip ? [token] : [])),
    )
  }

  poolsOf(token: string): readonly KnownPool[] {
    return this.#pools.get(token) ?? []
  }

  /** The key of a pool that is an ID in one contract, if its announcement was in the log. */
  keyOf(pool: string): PoolKey | undefined {
    return this.#keys.get(pool)
  }

  /** Stores the key of a known pool. */
  addKey(pool: string, key: PoolKey): void {
    this.#keys.put(pool, key)
  }

  apply(fact: Fact, block: number): void {
    switch (fact.type) {
      case 'token':
        if (fact.address !== ZERO_ADDRESS) this.#attempt(0, fact.address, block)
        break
      case 'pool':
        if (fact.tokens.length === 2) this.#addPool(fact.address, fact.factory, fact.tokens)
        break
      case 'inspection': {
        const { trial } = fact.inspection
        const isTried = typeof trial !== 'string' || trial === 'no_contract'
        this.#turn(fact.address, fact.inspection.block.number, { isTried, block })
        break
      }
      case 'inspectionFailure':
        this.#turn(fact.address, fact.block, { isTried: false, block })
        break
      default:
        break
    }
  }

  /** Queues a contract that reported a change. */
  change(token: string, block: number): void {
    if (this.#changedAt.get(token) === undefined) this.#changed.append({ token, block })
    this.#changedAt.put(token, block)
  }

  #attempt(attempt: number, token: string, block: number): void {
    const wait = WAITS[attempt]
    if (wait !== undefined) this.#attempts[attempt]?.append({ token, block: block + wait })
  }

  #addPool(address: string, factory: string, tokens: readonly string[]): void {
    for (const [index, token] of tokens.entries()) {
      const known = this.poolsOf(token)
      const quote = tokens[1 - index]
      if (quote === undefined || known.length >= MAX_POOLS) continue
      this.#pools.put(token, [...known, { address, factory, quote }])
    }
  }

  #turn(address: string, inspectedAt: number, then: { isTried: boolean; block: number }): void {
    const isOf = ({ token, block: since }: Due): boolean => token === address && since <= inspectedAt
    const changedAt = this.#changedAt.get(address)
    if (changedAt !== undefined && changedAt <= inspectedAt) {
      if (this.#changed.removeAmong(AT_ONCE, isOf) !== undefined) this.#changedAt.delete(address)
    }
    const attempt = this.#attempts.findIndex((queue) => queue.removeAmong(AT_ONCE, isOf) !== undefined)
    if (attempt !== -1 && !then.isTried) this.#attempt(attempt + 1, address, then.block)
  }
}
