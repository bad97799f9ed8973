import { ChaintapeError } from '../../../domain/errors.ts'
import type { Logger } from '../../../lib/logger.ts'
import { type ListedChain, type Listing, type Listings, parseTokenList } from './parse-token-list.ts'
import { readTokenList } from './read-token-list.ts'

export type TokenLists = {
  listingOf(chain: string, address: string): Listing | undefined
}

export type TokenListsOptions = {
  /** Paths and https addresses; of two that show a picture the former one's is taken. */
  readonly sources: readonly string[]
  readonly chains: readonly ListedChain[]
  /** Something may be said differently now. */
  readonly onChange: () => void
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly refreshMs?: number
  readonly retryMs?: number
}

type Source = { readonly source: string; listings: Listings | undefined; dueAt: number }

const REFRESH_MS = 6 * 3_600_000
const RETRY_MS = 60_000

/**
 * What the configured lists say of tokens. Each was asked once when this is there, and is asked again every few hours; while it
 * cannot be read, it counts as it was last read.
 */
export async function openTokenLists(options: TokenListsOptions): Promise<TokenLists> {
  const { chains, signal, logger, onChange, refreshMs = REFRESH_MS, retryMs = RETRY_MS } = options
  const sources = options.sources.map((source): Source => ({ source, listings: undefined, dueAt: 0 }))

  const refresh = async (list: Source): Promise<void> => {
    list.dueAt = Date.now() + retryMs
    try {
      list.listings = parseTokenList(await readTokenList(list.source, { signal }), chains)
      list.dueAt = Date.now() + refreshMs
      const tokens = [...list.listings.values()].reduce((sum, ofChain) => sum + ofChain.size, 0)
      logger.info({ token_list: list.source, tokens }, 'Token list read')
      onChange()
    } catch (error) {
      if (signal.aborted) return
      const code = error instanceof ChaintapeError ? error.code : 'internal'
      logger.warn({ err: error, code, token_list: list.source }, 'Token list unreadable')
    }
  }
  const refreshDue = async (): Promise<void> => {
    await Promise.all(sources.filter(({ dueAt }) => dueAt <= Date.now()).map(refresh))
  }

  await refreshDue()
  if (sources.length > 0) {
    const timer = setInterval(() => void refreshDue(), retryMs)
    signal.addEventListener('abort', () => clearInterval(timer), { once: true })
  }

  return {
    listingOf: (chain, address) => {
      const said = sources.flatMap(({ listings }) => listings?.get(chain)?.get(address) ?? [])
      if (said.length === 0) return undefined
      return {
        logoUrl: said.find(({ logoUrl }) => logoUrl !== undefined)?.logoUrl,
        isAudited: said.some(({ isAudited }) => isAudited),
      }
    },
  }
}
