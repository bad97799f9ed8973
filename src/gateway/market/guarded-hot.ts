import type { Logger } from '../../lib/logger.ts'
import { Circuit } from '../../store/redis/circuit.ts'
import type { HotStore } from '../../store/redis/hot-store.ts'

/** Redis reads that a client waits for. */
export type HotReads = Omit<HotStore, 'apply' | 'rebuild' | 'remove' | 'head' | 'close'>

/** A circuit breaker: a hung Redis costs the first requests its timeout, and later ones nothing. */
export function guardHot(
  store: HotStore,
  {
    anyChain,
    logger,
    signal,
  }: { readonly anyChain: string; readonly logger: Logger; readonly signal: AbortSignal },
): HotReads {
  const circuit = new Circuit({
    probe: () => store.head(anyChain),
    onChange: (isOpen, reason) => {
      if (isOpen) logger.warn({ err: reason }, 'Redis unavailable; reading from ClickHouse')
      else logger.info('Redis recovered')
    },
    signal,
  })
  return {
    pairs: (refs) => circuit.run(() => store.pairs(refs)),
    tokens: (refs) => circuit.run(() => store.tokens(refs)),
    contracts: (refs) => circuit.run(() => store.contracts(refs)),
    windows: (refs) => circuit.run(() => store.windows(refs)),
    candles: (refs) => circuit.run(() => store.candles(refs)),
    recentCandles: (ref, limit) => circuit.run(() => store.recentCandles(ref, limit)),
    topPairs: (chain, token, limit) => circuit.run(() => store.topPairs(chain, token, limit)),
    topTokens: (chain, by, limit) => circuit.run(() => store.topTokens(chain, by, limit)),
  }
}
