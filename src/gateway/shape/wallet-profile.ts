import type { EventSide, Trade } from '../../domain/change.ts'
import { ACCOUNT_CHANGE, type WalletHolding } from '../../domain/wallet-balances.ts'
import { knownAmount } from './wire-values.ts'

const SOL_DECIMALS = 9

/**
 * `profile` of a swap: a JSON object in a string, with the wallet's holdings after the transaction. Its numbers are
 * written as decimals, so that no digit is lost on our side. Unknown members are left out; undefined if all are unknown.
 */
export function walletProfile({ holdings, sold, bought }: Trade): string | undefined {
  if (holdings === undefined) return undefined
  const { isToken0Sold, nativeRaw } = holdings
  const members = [
    ...tokenMembers('token0', isToken0Sold ? sold : bought, isToken0Sold ? holdings.sold : holdings.bought),
    ...tokenMembers('token1', isToken0Sold ? bought : sold, isToken0Sold ? holdings.bought : holdings.sold),
    ...member('solTotalHolding', knownAmount(nativeRaw, SOL_DECIMALS)),
  ]
  return members.length === 0 ? undefined : `{${members.join(',')}}`
}

function tokenMembers(
  name: 'token0' | 'token1',
  { token, decimals }: EventSide,
  holding: WalletHolding | undefined,
): string[] {
  const amount = knownAmount(holding?.amountRaw, decimals)
  if (holding === undefined || amount === undefined) return []
  const has = (change: keyof typeof ACCOUNT_CHANGE): string =>
    String((holding.accounts & ACCOUNT_CHANGE[change]) !== 0)
  return [
    ...member(`${name}Address`, JSON.stringify(token)),
    ...member(`${name}TotalHolding`, amount),
    ...member(`${name}HasNewAccount`, has('created')),
    ...member(`${name}HasClosedAccount`, has('closed')),
    ...member(`${name}HasClearedAccount`, has('cleared')),
  ]
}

/** `value` is JSON. */
function member(name: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`"${name}":${value}`]
}
