import type { Pair, PairSide, Token } from '../domain/change.ts'
import type { TokenFact } from '../domain/envelope.ts'
import { shownText } from '../domain/token-text.ts'
import { amountValue } from './price/pair-prices.ts'
import type { Worth } from './price/worth.ts'

/** A token when first seen. */
export function newToken(fact: TokenFact, worth: Worth, time: number): Token {
  const { address, decimals, supplyRaw } = fact
  return {
    address,
    name: shownText(fact.nameRaw),
    symbol: shownText(fact.symbolRaw),
    decimals,
    supplyRaw,
    priceUsd: worth.usd,
    priceNative: worth.native,
    mainPair: undefined,
    mainPairTvlUsd: undefined,
    tvlUsd: undefined,
    fdvUsd: supplyRaw === undefined ? undefined : amountValue(supplyRaw, decimals, worth.usd),
    marketCapUsd: undefined,
    holding: undefined,
    origin: undefined,
    launch: undefined,
    platform: undefined,
    risk: undefined,
    updatedAt: time,
  }
}

export type FirstPair = {
  readonly address: string
  readonly amm: string
  readonly tokens: readonly [string, string]
  /** Reserves of its pool before this block, if known. */
  readonly reserves: readonly bigint[] | undefined
  readonly targetToken: string | undefined
  readonly tokenOf: (address: string) => Token | undefined
  readonly time: number
}

/** A pair when first seen. */
export function newPair({ address, amm, tokens, reserves, targetToken, tokenOf, time }: FirstPair): Pair {
  const side = (place: 0 | 1): PairSide => {
    const token = tokenOf(tokens[place])
    const reserveRaw = reserves?.[place]
    return {
      token: tokens[place],
      symbol: token?.symbol ?? '',
      decimals: token?.decimals,
      reserveRaw,
      initialReserveRaw: undefined,
      priceUsd: undefined,
      priceNative: undefined,
    }
  }
  return {
    address,
    amm,
    token0: side(0),
    token1: side(1),
    targetToken,
    isMain: false,
    tvlUsd: undefined,
    tvlNative: undefined,
    fdvUsd: undefined,
    createdAt: undefined,
    updatedAt: time,
    firstTradeAt: undefined,
    lastTradeAt: undefined,
    lastTradePriceUsd: undefined,
    lastSide: undefined,
    athPriceUsd: undefined,
  }
}
