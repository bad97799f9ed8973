import type { Pair, PairSide, Token } from '../domain/change.ts'
import type { PoolFact, TokenFact } from '../domain/envelope.ts'
import { amountValue } from './price/pair-prices.ts'
import type { Worth } from './price/reference-prices.ts'

/** A token as it is when first met. */
export function newToken(fact: TokenFact, worth: Worth, time: number): Token {
  const { address, name, symbol, decimals, supplyRaw } = fact
  return {
    address,
    name,
    symbol,
    decimals,
    supplyRaw,
    priceUsd: worth.usd,
    priceNative: worth.native,
    mainPair: undefined,
    mainPairTvlUsd: undefined,
    tvlUsd: undefined,
    fdvUsd: supplyRaw === undefined ? undefined : amountValue(supplyRaw, decimals, worth.usd),
    updatedAt: time,
  }
}

/** A pair as it is when first met: what its pool holds, only its events tell. */
export function newPair(
  fact: PoolFact,
  amm: string,
  targetToken: string | undefined,
  tokenOf: (address: string) => Token | undefined,
  time: number,
): Pair {
  const side = (address: string): PairSide => {
    const token = tokenOf(address)
    return {
      token: address,
      symbol: token?.symbol ?? '',
      decimals: token?.decimals,
      reserveRaw: 0n,
      initialReserveRaw: 0n,
      priceUsd: undefined,
      priceNative: undefined,
    }
  }
  return {
    address: fact.address,
    amm,
    token0: side(fact.token0),
    token1: side(fact.token1),
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
