import assert from 'node:assert/strict'
import { DEAD, type ExpectedHolding } from './expected-holdings.ts'
import { amountValue, decimal, value } from './expected-numbers.ts'
import type { Row } from './expected-rows.ts'
import type { ExpectedToken } from './expected-tokens.ts'

/** `GET /v2/tokens/top100`: the interface has numbers here. */
export function topHolderRows(
  { info, price }: ExpectedToken,
  { holders, supply }: ExpectedHolding,
  limit: number,
): Row[] {
  return holders.slice(0, limit).map(({ holder, raw, nativeRaw }) => ({
    ...{ holder, address: holder },
    amount_cur: Number(decimal(raw, info.decimals)),
    balance_ratio: Number(decimal((raw * 10n ** 18n) / supply, 18)),
    balance_usd: Number(value(amountValue(raw, info.decimals, price.usd)) ?? 0),
    main_coin_balance: Number(decimal(nativeRaw, 18)),
  }))
}

/** `token_holders_rank` of `GET /v2/contracts`: the ten largest, how much they have, how much of all, and what they are. */
export function assertHoldersRank(
  rank: readonly Row[],
  { info }: ExpectedToken,
  { holders, supply, creator }: ExpectedHolding,
  isPool: (address: string) => boolean,
): void {
  assert.equal(rank.length, Math.min(10, holders.length))
  for (const [index, { is_contract, mark, ...row }] of rank.entries()) {
    const { holder, raw } = holders[index] ?? { holder: '', raw: 0n }
    assert.deepEqual(row, {
      address: holder,
      quantity: decimal(raw, info.decimals),
      percent: decimal((raw * 10n ** 18n) / supply, 18),
      is_lp: isPool(holder) ? 1 : 0,
    })
    if (isPool(holder)) assert.equal(is_contract, 1)
    const isDead = DEAD.some((dead) => dead === holder)
    const known = isPool(holder) ? 'pool' : isDead ? 'burned' : holder === creator ? 'creator' : ''
    // The creator is marked if he was known when the contract was examined.
    assert.ok(mark === known || (known === 'creator' && mark === ''), `${holder} is marked ${mark}`)
  }
}
