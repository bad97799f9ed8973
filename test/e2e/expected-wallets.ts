import assert from 'node:assert/strict'
import { zeroAddress } from 'viem'
import type { Market } from '../../dev/market/market.ts'
import { wrappingOf } from './expected-holdings.ts'
import type { ExpectedTrade } from './expected-pools.ts'
import type { Row } from './expected-rows.ts'
import { transferOf } from './token-flows.ts'

type Held = { readonly before: bigint; readonly after: bigint }

/** What the signer of each transaction held of each token, by all transfers since the chain began. */
export class ExpectedWallets {
  readonly #held = new Map<string, Held>()

  static async read(market: Market, tokens: readonly string[], lastBlock: number): Promise<ExpectedWallets> {
    const expected = new ExpectedWallets()
    const balances = new Map<string, bigint>()
    const balance = (holder: string, token: string): bigint => balances.get(`${holder}/${token}`) ?? 0n
    for (let block = 1; block <= lastBlock; block++) {
      for (const { from, transactionHash, logs } of await market.receipts(block)) {
        const wallet = from.toLowerCase()
        const before = tokens.map((token) => balance(wallet, token))
        for (const log of logs) {
          const token = log.address.toLowerCase()
          const move = transferOf(log) ?? wrappingOf(market, log)
          if (move === undefined) continue
          const { from: giver, to: taker, amount } = move
          balances.set(`${giver}/${token}`, balance(giver, token) - amount)
          balances.set(`${taker}/${token}`, balance(taker, token) + amount)
        }
        for (const [at, token] of tokens.entries())
          expected.#held.set(`${transactionHash}/${token}`, {
            before: before[at] ?? 0n,
            after: balance(wallet, token),
          })
      }
    }
    return expected
  }

  /** `profile` of a swap, if the holders of both tokens are known; the native coin leaves no transfers. */
  profileOf({ pool, transaction }: ExpectedTrade): Row {
    const profile: Record<string, unknown> = {}
    for (const [place, { address, decimals }] of [pool.token0, pool.token1].entries()) {
      if (address === zeroAddress) continue
      const held = this.#held.get(`${transaction}/${address}`)
      assert.ok(held !== undefined)
      const { before, after } = held
      const name = `token${place}`
      profile[`${name}Address`] = address
      profile[`${name}TotalHolding`] = Number(`${after}e-${decimals}`)
      profile[`${name}HasNewAccount`] = before === 0n && after > 0n
      profile[`${name}HasClosedAccount`] = false
      profile[`${name}HasClearedAccount`] = before > 0n && after === 0n
    }
    return profile
  }
}

/** A swap without its profile, which depends on when the holders of its tokens became known. */
export function withoutProfile({ profile: _, ...row }: Row): Row {
  return row
}
