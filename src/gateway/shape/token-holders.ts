import type { Token } from '../../domain/change.ts'
import { formatAmount, formatFixed, formatValue, pow10, valueOfAmount } from '../../domain/money.ts'
import type { Holder } from '../../store/clickhouse/read/top-holders.ts'
import type { AccountAnswer } from '../../wire/account-question.ts'

const RATIO_DIGITS = 18

/** The TokenHolder of the interface document, which has numbers here: they are made of exact decimals, at the very end. */
export function tokenHolders(
  { decimals, supplyRaw, priceUsd }: Token,
  holders: readonly Holder[],
  accounts: readonly AccountAnswer[] | undefined,
  nativeDecimals: number,
) {
  return holders.map(({ holder, amountRaw }, index) => {
    const worth = decimals === undefined ? undefined : valueOfAmount(amountRaw, decimals, priceUsd)
    const native = accounts?.[index]?.balanceRaw
    return {
      holder,
      address: holder,
      amount_cur: decimals === undefined ? 0 : Number(formatAmount(amountRaw, decimals)),
      balance_ratio: ratio(amountRaw, supplyRaw),
      balance_usd: worth === undefined ? 0 : Number(formatValue(worth)),
      main_coin_balance: native === undefined ? 0 : Number(formatAmount(native, nativeDecimals)),
    }
  })
}

function ratio(amountRaw: bigint, supplyRaw: bigint | undefined): number {
  if (supplyRaw === undefined || supplyRaw === 0n) return 0
  return Number(formatFixed((amountRaw * pow10(RATIO_DIGITS)) / supplyRaw, RATIO_DIGITS))
}
