import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { DexDeployment } from '../../src/dex/protocol.ts'
import { DexRegistry } from '../../src/dex/registry.ts'
import type { Change, ChangeSet, Trade } from '../../src/domain/change.ts'
import { formatPrice, formatValue, pow10, VALUE_DIGITS } from '../../src/domain/money.ts'
import { formatOrderKey } from '../../src/domain/order-key.ts'
import type { EngineSettings } from '../../src/engine/settings.ts'
import { engineSettings } from '../../src/roles/engine-settings.ts'
import { EngineRun } from '../support/engine-run.ts'
import { assertExpected } from '../support/expected-lines.ts'
import { RecordedEnvelopes } from '../support/recorded-envelopes.ts'
import { hasRecordings, recordedBlocks } from '../support/recorded-transactions.ts'
import { shippedChains } from '../support/shipped-chains.ts'

type World = { readonly settings: EngineSettings; readonly deployments: readonly DexDeployment[] }

const NAMES: Readonly<Record<number, string>> = {
  1: 'eth',
  10: 'optimism',
  25: 'cronos',
  137: 'polygon',
  8453: 'base',
  42161: 'arbitrum',
}
/** We ship no file for Cronos: its largest exchange, and the two coins that most of its pools have. */
const CRONOS: World = (() => {
  const deployments = [
    { amm: 'vvs', protocol: 'uniswap_v2', factory: '0x3b44b2a187a7b3824131f8db5a74194d0a42fc15' },
  ]
  const quoteAssets = [
    { address: '0xc21223249ca28397b4b6541dffaecc539bff0c59', kind: 'stable' },
    { address: '0x5c7f8a570d578ed84e63fdfa7b1ee72deae1ae23', kind: 'native' },
  ] as const
  const minDepthUsd = 1_000n * pow10(VALUE_DIGITS)
  const settings = { chain: 'cronos', registry: new DexRegistry(deployments), quoteAssets, minDepthUsd }
  return { settings, deployments }
})()
/** Their trades are written out in full: V2 and V3, plain and busy, with and without prices. */
const SHOWN: readonly number[] = [11_098_450, 17_034_870, 22_431_084, 109_860_869, 20_000_000]

test('real blocks give the trades and changes they gave before', { skip: !hasRecordings }, () => {
  const summary = ['chain,block,trades,with_usd,liquidity,pairs,tokens,candles,windows,sha256_of_all_changes']
  const shown = [
    'trade,pair,amm,side,target,sold,bought,amount_sold,amount_bought,price_usd,price_native,value_usd,value_native',
  ]
  let trades = 0
  for (const block of recordedBlocks().toSorted((a, b) => a.chainId - b.chainId || a.number - b.number)) {
    const { settings, deployments } = worldOf(NAMES[block.chainId] ?? '')
    const envelopes = new RecordedEnvelopes(deployments)
    const { before, recorded } = envelopes.of(settings.chain, block)
    const run = new EngineRun(settings)
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

function worldOf(name: string): World {
  const config = name === 'cronos' ? undefined : shippedChains([name])[name]
  if (config === undefined) return CRONOS
  const deployments = config.dexes.map(({ amm, protocol, factory, init_code_hash, deployer }) => {
    return { amm, protocol, factory, initCodeHash: init_code_hash, deployer }
  })
  return { settings: engineSettings(name, config), deployments }
}

function tradesOf({ changes }: ChangeSet): Trade[] {
  return changes.flatMap((change) => (change.type === 'trade' ? [change.trade] : []))
}

/** The hash is of numbers and names, not of how they are encoded. */
function summaryOf({ changes }: ChangeSet): string {
  const count = (type: Change['type']): number => changes.filter((change) => change.type === type).length
  const withUsd = changes.filter((change) => change.type === 'trade' && change.trade.valueUsd !== undefined)
  const text = JSON.stringify(changes, (_key, value: unknown) =>
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
