import type { ChainAddress } from '../../../domain/ids.ts'
import { RecentlyUsed } from '../../../domain/recently-used.ts'
import type { Logger } from '../../../lib/logger.ts'
import type { Logs } from '../../../log/connect.ts'
import type { HistoryReader } from '../../../store/clickhouse/read/history-reader.ts'
import type { Holder } from '../../../store/clickhouse/read/top-holders.ts'
import {
  ACCOUNTS_TOPIC,
  type AccountAnswer,
  decodeAccountsAnswer,
  encodeAccountsQuestion,
  MAX_ACCOUNTS,
} from '../../../wire/account-question.ts'
import { decodeHistoryState, HISTORIES_TOPIC, type HistoryState } from '../../../wire/history-question.ts'
import { StaleWhileRevalidateCache } from '../../cache/stale-while-revalidate.ts'
import type { MarketView } from '../../market/market-view.ts'

export type HoldersViewParts = {
  readonly view: Pick<MarketView, 'recent' | 'generation'>
  readonly history: Pick<HistoryReader, 'topHolders'>
  readonly logs: Pick<Logs, 'request'>
  readonly logger: Logger
  /** Milliseconds. */
  readonly now: () => number
}

/** Holders of a token, as of the writer's last batch, cached for a moment. */
export type HoldersView = {
  /** The largest, at most a hundred, largest first. `count`: how many the token has, if known; a shorter list is not cached. */
  top(token: ChainAddress, count: number | undefined): Promise<readonly Holder[]>
  /** The current accounts of these addresses; undefined if no reader responded in time. */
  accounts(chain: string, addresses: readonly string[]): Promise<readonly AccountAnswer[] | undefined>
  /** Why not all holders of a token are known; undefined if the reader has no reason, or did not respond in time. */
  incompleteBecause(token: ChainAddress): Promise<IncompleteReason | undefined>
}

export type IncompleteReason = 'history_open' | 'logs_unavailable'

const REASONS: Record<HistoryState, IncompleteReason | undefined> = {
  open: 'history_open',
  unserved: 'logs_unavailable',
  read: undefined,
}

const MAX_HOLDERS = 100
/** With the second that answers made of it are kept, five. */
const TOP_MS = 4_000
const MAX_TOPS = 1_000
const ACCOUNTS_MS = 30_000
/** From this age on, accounts are refreshed in the background while the cached ones are still returned. */
const AGEING_MS = 20_000
const MAX_ASKED_ACCOUNTS = 100_000
/** A request does not wait longer for a slow node. */
const DEADLINE_MS = 300

type Known = { readonly at: number; readonly account: AccountAnswer; isAskedAnew: boolean }

export function createHoldersView({ view, history, logs, logger, now }: HoldersViewParts): HoldersView {
  const tops = new StaleWhileRevalidateCache<readonly Holder[]>({
    ...{ freshMs: TOP_MS / 2, staleMs: TOP_MS, maxEntries: MAX_TOPS, now },
  })
  // Not the shared cache, which reads one name at a time: one request asks for all accounts that are missing.
  const known = new RecentlyUsed<Known>(MAX_ASKED_ACCOUNTS)

  const readTop = async ({ chain, address }: ChainAddress): Promise<readonly Holder[]> => {
    const recent = view.recent(chain)
    await recent.mustHaveHistory()
    const { upTo } = recent
    return history.topHolders({ chain, token: address, upTo, limit: MAX_HOLDERS })
  }

  const askAccounts = async (chain: string, addresses: readonly string[]): Promise<boolean> => {
    try {
      const question = encodeAccountsQuestion(addresses)
      const answer = await logs.request(`${ACCOUNTS_TOPIC}.${chain}`, question, DEADLINE_MS)
      const accounts = decodeAccountsAnswer(answer, addresses.length)
      for (const [index, account] of accounts.entries())
        known.set(`${chain}/${addresses[index]}`, { at: now(), account, isAskedAnew: false })
      known.evict()
      return true
    } catch (error) {
      logger.warn({ err: error, chain }, 'Account balances unavailable')
      return false
    }
  }

  return {
    incompleteBecause: async ({ chain, address }) => {
      try {
        const answer = await logs.request(`${HISTORIES_TOPIC}.${chain}`, address, DEADLINE_MS)
        return REASONS[decodeHistoryState(answer)]
      } catch (error) {
        logger.warn({ err: error, chain }, 'State of a transfer history unavailable')
        return undefined
      }
    },
    top: async (token, count) => {
      const name = `${token.chain}/${view.generation(token.chain)}/${token.address}`
      const top = await tops.get(name, () => readTop(token))
      if (count !== undefined && !hasAll(top, count)) tops.delete(name)
      return top
    },
    accounts: async (chain, addresses) => {
      // One moment for all of it: what is fresh now does not become too old while the others are asked for.
      const asOf = now()
      const fresh = (address: string): Known | undefined => {
        const found = known.get(`${chain}/${address}`)
        return found !== undefined && asOf - found.at < ACCOUNTS_MS ? found : undefined
      }
      const missing = addresses.filter((address) => fresh(address) === undefined).slice(0, MAX_ACCOUNTS)
      if (missing.length > 0 && !(await askAccounts(chain, missing))) return undefined
      const found = addresses.map(fresh).filter((one) => one !== undefined)
      if (found.length < addresses.length) return undefined
      const ageing = addresses.filter((_, index) => isToBeAskedAnew(found[index], asOf))
      // In the background, and never rejects: the next request reads accounts that are too old by then.
      if (ageing.length > 0) void askAccounts(chain, ageing)
      return found.map(({ account }) => account)
    },
  }
}

/** Whether the list has as many holders as it can; never while their number is unknown. */
export function hasAll(top: readonly Holder[], count: number | undefined): boolean {
  return count !== undefined && top.length >= Math.min(count, MAX_HOLDERS)
}

/** Says so once of each. */
function isToBeAskedAnew(known: Known | undefined, asOf: number): boolean {
  if (known === undefined || known.isAskedAnew || asOf - known.at < AGEING_MS) return false
  known.isAskedAnew = true
  return true
}
