import type { ContractReport } from '../../domain/contract-report.ts'
import type { ChainAddress } from '../../domain/ids.ts'
import { RecentlyUsed } from '../../domain/recently-used.ts'
import type { Logger } from '../../lib/logger.ts'
import type { LatestValues } from '../../log/latest-values.ts'
import type { DocumentReads } from '../../store/document-reads.ts'
import type { StoreName } from '../../store/store-names.ts'
import type { Versioned } from '../../store/versioned.ts'
import { isUnavailable } from './joined-reads.ts'
import type { MarketView } from './market-view.ts'

export type ContractReportsParts = {
  readonly hot: Pick<DocumentReads, 'contracts'>
  /** Asked while Redis cannot be read. */
  readonly history: Pick<DocumentReads, 'contracts'>
  readonly view: Pick<MarketView, 'reach'>
  readonly work: Pick<LatestValues, 'put'>
  readonly logger: Logger
  /** Milliseconds. */
  readonly now: () => number
}

export type ContractReports = {
  /** The newest one. If there is none, or it is old by the time of the head, a new one is asked for, and not waited for. */
  read(ref: ChainAddress, headTime: number | undefined): Promise<ContractReport | undefined>
}

/** Changes without an event are noticed within this time. */
const MAX_AGE_SECONDS = 3_600
/** A wish is not repeated sooner: an examination takes some blocks. */
const WISH_MS = 60_000
const MAX_WISHES = 10_000

export function createContractReports(parts: ContractReportsParts): ContractReports {
  const { hot, history, view, work, logger, now } = parts
  const wishes = new RecentlyUsed<{ readonly at: number }>(MAX_WISHES)
  const ask = ({ chain, address }: ChainAddress): void => {
    const id = `${chain}.inspect.${address}`
    const last = wishes.get(id)
    if (last !== undefined && now() - last.at < WISH_MS) return
    wishes.set(id, { at: now() })
    wishes.evict()
    work.put(id, new Uint8Array()).catch((error: unknown) => {
      wishes.delete(id)
      logger.warn({ err: error, chain, token: address }, 'Contract inspection request failed')
    })
  }
  const readFrom = async (
    store: StoreName,
    ref: ChainAddress,
  ): Promise<Versioned<ContractReport> | undefined> => {
    const [stored] = await (store === 'redis' ? hot : history).contracts([ref])
    await view.reach(ref.chain, stored?.seq ?? 0, store)
    return stored
  }
  return {
    read: async (ref, headTime) => {
      const stored = await readFrom('redis', ref).catch((error: unknown) => {
        if (!isUnavailable(error)) throw error
        return readFrom('clickhouse', ref)
      })
      const report = stored?.record
      if (report === undefined || (headTime ?? 0) - report.time > MAX_AGE_SECONDS) ask(ref)
      return report
    },
  }
}
