import type { Doorbell } from '../../chain/doorbell.ts'
import { Inspections } from '../../chain/inspections.ts'
import type { BackgroundFacts, ReaderParts } from '../../chain/reader.ts'
import type { ReaderIndex } from '../../chain/reader-index.ts'
import type { RpcBudget } from '../../chain/rpc/endpoint-pool.ts'
import type { ChainSource } from '../../chain/source.ts'
import type { ChainConfig } from '../../config/schema.ts'
import type { ChainSettings } from '../../domain/chain-settings.ts'
import type { Envelope, TransfersFact } from '../../domain/envelope.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import type { Logger } from '../../lib/logger.ts'
import type { PoolIndex } from '../../store/lmdb/pool-index.ts'
import type { AccountAnswer } from '../../wire/account-question.ts'
import type { LookUpAnswer } from '../../wire/look-up-question.ts'
import { type ReaderMetrics, rpcMetrics } from './metrics.ts'

/** What the reader role provides to a family of chains. */
export type FamilyRun<Config> = {
  readonly chain: string
  readonly config: Config
  /** Those of the configuration, which this reader appends to the log before its first block. */
  readonly settings: ChainSettings
  readonly index: ReaderIndex
  /** To ring when a new head is announced. */
  readonly doorbell: Doorbell
  readonly metrics: ReaderMetrics
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly untilAnswered: UntilAnswered
  readonly budget: RpcBudget
  /** Opens the index of pools by their creation events. */
  readonly openPools: () => PoolIndex
}

/** What a family of chains provides to the reader role. Adding a family is one file with a function that returns this. */
export type FamilyParts = Pick<ReaderParts, 'gather' | 'askAhead'> & {
  readonly source: ChainSource
  readonly background: readonly BackgroundFacts[]
  readonly inspections?: RequestedInspections
  readonly lookUps?: RequestedLookUps
  /** Left out if older transfers cannot be requested. */
  readonly histories?: RequestedHistories
  /** Native balances of accounts, in the same order; left out if the nodes are not asked for them. */
  readonly askAccounts?: (addresses: readonly string[]) => Promise<AccountAnswer[]>
}

/** Look-ups of tokens and pools at a gateway's request. */
export type RequestedLookUps = {
  want(id: string): void
  /** Whether a look-up may find anything; fails if no node can be asked. */
  seek(id: string): Promise<LookUpAnswer>
}

/** Inspections of tokens at a gateway's request. */
export type RequestedInspections = {
  want(token: string): void
  /** Another reader appended this block. */
  follow(envelope: Envelope): void
}

/** Transfer histories, in the order in which they are needed. */
export type RequestedHistories = {
  /** A client asked for the holders of this token. */
  want(address: string): void
  /** Addresses with the most liquidity, in order. */
  rank(addresses: readonly string[]): void
  /** Whether no node serves the old logs of this address. */
  isUnserved(address: string): boolean
  unservedCount(): number
  /** Stops reading a history for a minute, so that an import can begin where it stands. */
  hold(address: string): void
  /** Publishes imported balances instead of reading the range that begins at `from`. */
  import(from: number, fact: TransfersFact): void
}

/** Retries until a node is available. */
export type UntilAnswered = <T>(ask: () => Promise<T>) => Promise<T>

/** Options of the RPC client of any family. */
export function rpcOptions({ chain, config, metrics, logger, signal, budget }: FamilyRun<ChainConfig>) {
  return {
    urls: config.rpc_urls,
    http: { timeoutMs: config.rpc_timeout_ms },
    budget,
    logger,
    signal,
    metrics: rpcMetrics(metrics, chain),
  }
}

/** Nodes of another network would fill the log with its blocks. */
export async function expectNetwork<T>(
  { chain, untilAnswered }: FamilyRun<unknown>,
  name: string,
  configured: T,
  ask: () => Promise<T>,
): Promise<void> {
  const served = await untilAnswered(ask)
  if (served !== configured)
    throw new ChaintapeError(
      'config_invalid',
      `chains.${chain}: the node serves ${name} ${served}, not ${configured}`,
    )
}

export function createInspections(
  { chain, index, metrics, logger, signal }: FamilyRun<unknown>,
  inspect: ConstructorParameters<typeof Inspections>[0]['inspect'],
): Inspections {
  return new Inspections({
    inspect,
    queue: index.inspections,
    knowsToken: (token) => index.knowsToken(token),
    onFailure: () => metrics.droppedFacts.inc({ chain, type: 'inspection' }),
    logger,
    signal,
  })
}
