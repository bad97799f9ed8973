import type { ChainId } from '../../domain/ids.ts'
import { RecentlyUsed } from '../../domain/recently-used.ts'
import {
  ACCOUNTS_TOPIC,
  type AccountAnswer,
  decodeAccountsAnswer,
  encodeAccountsQuestion,
  MAX_ACCOUNTS,
} from '../../domain/wire/account-question.ts'
import type { Logger } from '../../lib/logger.ts'
import type { Logs } from '../../log/connect.ts'
import type { HistoryReader } from '../../store/clickhouse/read/history-reader.ts'
import type { Holder } from '../../store/clickhouse/read/top-holders.ts'
import type { MarketView } from '../market-view.ts'

export type HoldersViewParts = {
  readonly view: Pick<MarketView, 'recent'>
  readonly history: Pick<HistoryReader, 'topHolders'>
  readonly logs: Pick<Logs, 'ask'>
  readonly logger: Logger
  /** Milliseconds. */
  readonly now: () => number
}

/** Who holds a token. It is as old as the last batch of the writer, and kept for a moment. */
export type HoldersView = {
  /** The largest, at most a hundred, largest first. */
  top(token: ChainId): Promise<readonly Holder[]>
  /** What the chain says of these addresses now; undefined where nobody could say in time. */
  accounts(chain: string, addresses: readonly string[]): Promise<readonly AccountAnswer[] | undefined>
}

const MAX_HOLDERS = 100
const TOP_MS = 5_000
const MAX_TOPS = 1_000
const ACCOUNTS_MS = 30_000
const MAX_ASKED_ACCOUNTS = 100_000
/** Whoever asked is not kept waiting for a slow node. */
const DEADLINE_MS = 300

type Top = { readonly at: number; readonly holders: Promise<readonly Holder[]> }
type Known = { readonly at: number; readonly account: AccountAnswer }

export function createHoldersView({ view, history, logs, logger, now }: HoldersViewParts): HoldersView {
  const tops = new RecentlyUsed<Top>(MAX_TOPS)
  const known = new RecentlyUsed<Known>(MAX_ASKED_ACCOUNTS)

  const readTop = ({ chain, address }: ChainId): Promise<readonly Holder[]> => {
    const { upTo } = view.recent(chain)
    return history.topHolders({ chain, token: address, upTo, limit: MAX_HOLDERS })
  }

  return {
    top: (token) => {
      const id = `${token.chain}/${token.address}`
      const last = tops.get(id)
      if (last !== undefined && now() - last.at < TOP_MS) return last.holders
      const holders = readTop(token)
      tops.set(id, { at: now(), holders })
      tops.letGo()
      // What failed is asked again by the next one.
      holders.catch(() => tops.delete(id))
      return holders
    },
    accounts: async (chain, addresses) => {
      // One moment for all of it: what is fresh now does not become too old while the others are asked for.
      const asOf = now()
      const fresh = (address: string): AccountAnswer | undefined => {
        const found = known.get(`${chain}/${address}`)
        return found !== undefined && asOf - found.at < ACCOUNTS_MS ? found.account : undefined
      }
      const missing = addresses.filter((address) => fresh(address) === undefined).slice(0, MAX_ACCOUNTS)
      if (missing.length > 0) {
        try {
          const question = encodeAccountsQuestion(missing)
          const answer = await logs.ask(`${ACCOUNTS_TOPIC}.${chain}`, question, DEADLINE_MS)
          const accounts = decodeAccountsAnswer(answer, missing.length)
          for (const [index, account] of accounts.entries())
            known.set(`${chain}/${missing[index]}`, { at: now(), account })
          known.letGo()
        } catch (error) {
          logger.warn({ err: error, chain }, 'Nobody could say what accounts hold')
          return undefined
        }
      }
      const found = addresses.map(fresh)
      return found.every((account) => account !== undefined) ? found : undefined
    },
  }
}
