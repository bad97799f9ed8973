import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { Change, ChangeSet, Trade } from '../../src/domain/change.ts'
import { formatPrice, formatValue } from '../../src/domain/money.ts'
import { formatOrderKey } from '../../src/domain/order-key.ts'
import { assertExpected } from '../support/recorded/expected-lines.ts'
import { RecordedEnvelopes } from '../support/recorded/recorded-envelopes.ts'
import { hasRecordings, recordedBlocks } from '../support/recorded/recorded-transactions.ts'
import { worldOf } from '../support/recorded/recorded-worlds.ts'
import { EngineRun } from '../support/rigs/engine-run.ts'

/** Their trades are written out in full: V2 and V3, plain and busy, with and without prices. */
const SHOWN: readonly number[] = [11_098_450, 17_034_870, 22_431_084, 109_860_869, 20_000_000]

test('real blocks give the trades and changes they gave before', { skip: !hasRecordings }, () => {
  const summary = ['chain,block,trades,with_usd,liquidity,pairs,tokens,candles,windows,sha256_of_changes']
  const shown = [
    'trade,pair,amm,side,target,sold,bought,amount_sold,amount_bought,price_usd,price_native,value_usd,value_native',
  ]
  let trades = 0
  for (const block of recordedBlocks().toSorted((a, b) => a.chainId - b.chainId || a.number - b.number)) {
    const { settings, deployments } = worldOf(block)
    const envelopes = new RecordedEnvelopes(deployments)
    const { before, recorded } = envelopes.of(settings.chain, block)
    // By the first rules: `routes.test.ts` and `parties.test.ts` compare both.
    const run = new EngineRun({ ...settings, hasRoutes: false, hasParties: false })
    run.apply(before)
    const untouched = run.stateHash()
    const set = run.apply(recorded)
    const made = tradesOf(set)
    // A topic says nothing of amounts, but none of these swaps was paid back in kind.
    assert.equal(made.length, envelopes.swapsIn(recorded, block.chainId), `trades of ${block.file}`)
    trades += made.length
    summary.push(`${settings.chain},${block.number},${made.length},${summaryOf(set)}`)
    if (SHOWN.includes(block.number)) shown.push(...made.map(tradeLine))
    const { number, hash } = before
    run.apply({ kind: 'undo', chain: settings.chain, lastValid: { number, hash } })
    assert.equal(run.stateHash(), untouched, `${block.file}, taken back`)
  }
  console.log(`${trades} trades in ${summary.length - 1} blocks`)
  assertExpected('engine-blocks.csv', summary)
  assertExpected('engine-trades.csv', shown)
})

function tradesOf({ changes }: ChangeSet): Trade[] {
  return changes.flatMap((change) => (change.type === 'trade' ? [change.trade] : []))
}

/** The hash is of numbers and names, not of how they are encoded. Balances are looked at in `holders.test.ts`. */
function summaryOf({ changes }: ChangeSet): string {
  const count = (type: Change['type']): number => changes.filter((change) => change.type === type).length
  const withUsd = changes.filter((change) => change.type === 'trade' && change.trade.valueUsd !== undefined)
  const hashed = changes.filter(({ type }) => type !== 'balance')
  const text = JSON.stringify(hashed, (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  const hash = createHash('sha256').update(text).digest('hex')
  const counts = (['liquidity', 'pair', 'token', 'candle', 'windows'] as const).map(count)
  return [withUsd.length, ...counts, hash].join(',')
}

function tradeLine(trade: Trade): string {
  const { key, pair, amm, side, targetToken, sold, bought, valueUsd, valueNative } = trade
  const target = [sold, bought].find(({ token }) => token === targetToken)
  const price = (known: bigint | undefined): string => (known === undefined ? '' : formatPrice(known))
  const value = (known: bigint | undefined): string => (known === undefined ? '' : formatValue(known))
  return [
    ...[formatOrderKey(key), pair, amm, side ?? '', targetToken ?? '', sold.token, bought.token],
    ...[sold.amountRaw, bought.amountRaw].map(String),
    ...[price(target?.priceUsd), price(target?.priceNative), value(valueUsd), value(valueNative)],
  ].join(',')
}
