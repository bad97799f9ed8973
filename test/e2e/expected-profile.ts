import { WRAPPED_SOL } from '../support/builders/solana-accounts.ts'
import type { MarketEntry } from '../support/rigs/solana-market.ts'
import type { Row } from './expected-rows.ts'

type Balance = {
  readonly accountIndex: number
  readonly mint: string
  readonly owner?: string
  readonly uiTokenAmount: { readonly amount: string; readonly decimals: number }
}

type Meta = {
  readonly postBalances: readonly number[]
  readonly preTokenBalances: readonly Balance[]
  readonly postTokenBalances: readonly Balance[]
}

/** `profile` of a swap, from the balances that the node returned with its transaction. */
export function expectedProfile({ rpc, payer }: MarketEntry, tokens: readonly [string, string]): Row {
  const { postBalances, preTokenBalances, postTokenBalances } = rpc.meta as Meta
  const profile: Record<string, unknown> = {}
  for (const [place, mint] of tokens.entries()) {
    const own = (each: Balance): boolean => each.mint === mint && each.owner === payer
    const [before, after] = [preTokenBalances.filter(own), postTokenBalances.filter(own)]
    if (before.length === 0 && after.length === 0) continue
    const decimals = mint === WRAPPED_SOL ? 9 : ([...before, ...after][0]?.uiTokenAmount.decimals ?? 0)
    const sum = after.reduce((total, each) => total + BigInt(each.uiTokenAmount.amount), 0n)
    const find = (all: readonly Balance[], { accountIndex }: Balance) =>
      all.find((each) => each.accountIndex === accountIndex)
    const name = `token${place}`
    profile[`${name}Address`] = mint
    profile[`${name}TotalHolding`] = Number(`${sum}e-${decimals}`)
    profile[`${name}HasNewAccount`] = after.some((each) => find(before, each) === undefined)
    profile[`${name}HasClosedAccount`] = before.some((each) => find(after, each) === undefined)
    profile[`${name}HasClearedAccount`] = before.some(
      (each) => each.uiTokenAmount.amount !== '0' && find(after, each)?.uiTokenAmount.amount === '0',
    )
  }
  return { ...profile, solTotalHolding: Number(`${postBalances[0]}e-9`) }
}
