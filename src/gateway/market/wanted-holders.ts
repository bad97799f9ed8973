import type { ChainAddress, ChainFamily } from '../../domain/ids.ts'
import { RecentlyUsed } from '../../domain/recently-used.ts'
import type { Logger } from '../../lib/logger.ts'
import type { LatestValues } from '../../log/latest-values.ts'
import type { MarketReader } from './market-view.ts'

export type WantedHoldersParts = {
  readonly view: Pick<MarketReader, 'tokens'>
  readonly work: Pick<LatestValues, 'put'>
  readonly familyOf: (chain: string) => ChainFamily | undefined
  readonly logger: Logger
  /** Milliseconds. */
  readonly now: () => number
}

/** Requests that readers complete the holders of tokens that clients look at. */
export type WantedHolders = {
  /** Never waits, and never fails: without a request, the token has its turn later. */
  ask(tokens: readonly ChainAddress[], keyId: string): void
}

/** A token is not checked again sooner. Its request has to be repeated, because the reader's restart may lose it. */
const AGAIN_MS = 60_000
const MAX_TOKENS = 10_000
/** Tokens that one key may put first per hour and gateway, so that no client can delay the others. */
const KEY_BUDGET = 30
const BUDGET_MS = 3_600_000
const MAX_KEYS = 10_000

type Spent = { since: number; readonly tokens: Set<string> }

export function createWantedHolders({
  view,
  work,
  familyOf,
  logger,
  now,
}: WantedHoldersParts): WantedHolders {
  const checked = new RecentlyUsed<{ readonly at: number }>(MAX_TOKENS)
  const budgets = new RecentlyUsed<Spent>(MAX_KEYS)

  const isDue = (id: string): boolean => now() - (checked.get(id)?.at ?? Number.NEGATIVE_INFINITY) >= AGAIN_MS

  /** A token that the key has paid for is free until the hour is over. */
  const spend = (keyId: string, id: string): boolean => {
    let spent = budgets.get(keyId)
    if (spent === undefined || now() - spent.since >= BUDGET_MS) {
      spent = { since: now(), tokens: new Set() }
      budgets.set(keyId, spent)
      budgets.evict()
    }
    if (spent.tokens.has(id)) return true
    if (spent.tokens.size >= KEY_BUDGET) return false
    spent.tokens.add(id)
    return true
  }

  const request = async (tokens: readonly ChainAddress[], keyId: string): Promise<void> => {
    const readings = await view.tokens(tokens)
    for (const [index, { chain, address }] of tokens.entries()) {
      const id = `${chain}.holders.${address}`
      const token = readings[index]?.record
      const isWanted = token !== undefined && token.holding?.holders === undefined
      if (!isDue(id) || (isWanted && !spend(keyId, id))) continue
      checked.set(id, { at: now() })
      checked.evict()
      if (!isWanted) continue
      await work.put(id, new Uint8Array()).catch((error: unknown) => {
        checked.delete(id)
        throw error
      })
    }
  }

  return {
    ask: (tokens, keyId) => {
      const due = tokens.filter(
        ({ chain, address }) => familyOf(chain) === 'evm' && isDue(`${chain}.holders.${address}`),
      )
      if (due.length === 0) return
      request(due, keyId).catch((error: unknown) =>
        logger.warn({ err: error }, 'Holders were not requested from the reader'),
      )
    },
  }
}
