import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allTransactions, derivedTokens, hasRecordings } from '../support/recorded/recorded-transactions.ts'
import { judge } from './transfers/judge.ts'
import { type Leg, legsOf } from './transfers/legs.ts'
import { transfersOf } from './transfers/transfers.ts'

const AGREE_AT_LEAST = 0.99

const SHARED_OUT =
  'the token shares its tax out among all holders, and the pool gets a part of what was paid to it'
const FEES = "a hook's swap, settled with the fees of positions, whose amount no event reports"
const LAUNCH = '0x13020b28e7f28558b9cf07a1be11bc898d3de99d8414a8b9a4e7b60a4e4cb7a3'
/** Swaps that the logs of their tokens do not bear out, by transaction and log, and why that is right. */
const exceptions: Readonly<Record<string, string>> = {
  '0x110bef8e81473f114ce9d97c7260bbeeefa68c561bb3be424be7fa6a8d9e0dae 352': SHARED_OUT,
  '0x3277241dac861e8f87889a22d05fa1acdb52dc82bf151f9fe45da6673fbce4f9 359': SHARED_OUT,
  '0xa8324b9c02bfed3b15a5e31b976a6a6c78e06f4a73a30dfd8b310146bf59fd9a 60': SHARED_OUT,
  '0xc839bfe796a406737ade02ba44be7bd3a606f87a219038dfd0dd928568a78b3b 196': SHARED_OUT,
  '0xb9827174e182a1b8df3507d13c5cedccdc974c4edd5d66f59355f7e9758b9006 241':
    'the token takes its tax in parts, one of which it does not log',
  '0x97fe5761183803dba288bacbb3ce5c88f18b17a496c4284b72c18be444554874 13':
    'the buyer paid 1,006 units more than the pool asked for, which the event does not count',
  '0xf2e7b37c24428631dad93b436019aa1602dbc4315f06a231a87b75b33f2f3491 224':
    'stETH moves shares: what arrives is a unit less than it logs',
  '0x442e968d8a5c6adb81bf087041ed3dd19dc2f20725044c7f9c435bf6234d9992 2':
    'a pool of SyncSwap, which speaks like one of Uniswap V2 but has its tokens in a vault',
  [`${LAUNCH} 419`]: FEES,
  [`${LAUNCH} 472`]: FEES,
  [`${LAUNCH} 612`]: FEES,
  [`${LAUNCH} 672`]: FEES,
  [`${LAUNCH} 726`]: FEES,
  [`${LAUNCH} 727`]: FEES,
}

test('swaps equal the transfers of the tokens', { skip: !hasRecordings }, () => {
  const derived = derivedTokens()
  const counts: Record<string, number> = {}
  const found: Record<string, string> = {}
  let swaps = 0
  let swapsOffByTen = 0
  for (const transaction of allTransactions()) {
    const { hash, logs } = transaction
    const transfers = transfersOf(logs)
    const legs = legsOf(transaction, transfers, derived)
    for (const log of logs) {
      const [first, second] = legs.filter((leg) => leg.log === log && leg.isSwap)
      if (first === undefined || second === undefined) continue
      swaps += 1
      const verdict = judge([first, second], legs, transfers, logs)
      const kind = `${first.protocol}, ${verdict ?? 'exception'}`
      counts[kind] = (counts[kind] ?? 0) + 1
      if (judge([offByTen(first), offByTen(second)], legs.map(offByTen), transfers, logs) !== undefined) {
        swapsOffByTen += 1
      }
      if (verdict !== undefined) continue
      const place = `${hash} ${log.index}`
      found[place] = exceptions[place] ?? 'not listed'
    }
  }
  for (const [place, why] of Object.entries(found)) console.log(`${place} is an exception: ${why}`)
  for (const kind of Object.keys(counts).toSorted()) console.log(`${kind}: ${counts[kind]}`)
  const share = 1 - Object.keys(found).length / swaps
  console.log(`${(100 * share).toFixed(2)} % of ${swaps} swaps agree with the transfers of their tokens`)
  assert.deepEqual(found, exceptions)
  assert.ok(share >= AGREE_AT_LEAST)
  // Or else the comparison would let anything pass.
  assert.ok(swapsOffByTen < swaps / 100, `${swapsOffByTen} swaps agree when their amounts are off by ten`)
})

function offByTen(leg: Leg): Leg {
  return { ...leg, amount: leg.amount + 10n, gross: leg.gross + 10n }
}
