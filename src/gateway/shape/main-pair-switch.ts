import type { MainPairSwitch, Pair } from '../../domain/change.ts'
import { formatChainAddress } from '../../domain/ids.ts'
import { formatAmount, formatValue } from '../../domain/money.ts'

/**
 * `result` of the message to subscribers of a pair's candles when another pair becomes its token's main pair. The tag is
 * the launch platform of the token; empty if none launched it.
 */
export function switchPush(
  chain: string,
  { token, oldPair, newPair }: MainPairSwitch,
  pair: Pair,
  platform = '',
) {
  const { token0, token1 } = pair
  return {
    data: {
      chain,
      event: 'switch_main_pair',
      id: formatChainAddress(oldPair, chain),
      new_main_pair: newPair,
      old_main_pair: oldPair,
      tag: platform,
      token,
      new_main_pair_data: {
        amm: pair.amm,
        chain,
        init_reserve0: amountNumber(token0.initialReserveRaw, token0.decimals),
        init_reserve1: amountNumber(token1.initialReserveRaw, token1.decimals),
        pair: pair.address,
        reserve0: amountNumber(token0.reserveRaw, token0.decimals),
        reserve1: amountNumber(token1.reserveRaw, token1.decimals),
        tag: platform,
        target_token: pair.targetToken ?? '',
        token0_address: token0.token,
        token0_decimal: token0.decimals ?? 0,
        token0_symbol: token0.symbol,
        token1_address: token1.token,
        token1_decimal: token1.decimals ?? 0,
        token1_symbol: token1.symbol,
        tvl: pair.tvlUsd === undefined ? 0 : Number(formatValue(pair.tvlUsd)),
      },
    },
    status: 'ok',
  }
}

/** The document has numbers here, where everything else is text: they are as near as a number can be. */
function amountNumber(raw: bigint | undefined, decimals: number | undefined): number {
  return raw === undefined || decimals === undefined ? 0 : Number(formatAmount(raw, decimals))
}
