import type { Change } from '../../../src/domain/change.ts'
import { findingsBy } from '../../../src/domain/inspection.ts'
import {
  MEME,
  MEME_WETH,
  price,
  sampleCandle,
  sampleLiquidity,
  samplePair,
  sampleSwitch,
  sampleToken,
  sampleTrade,
  sampleWindows,
  TX_HASH,
  USDC,
  value,
  WALLET,
  WETH,
} from '../builders/market-samples.ts'

const LAUNCHED = `0x${'b'.repeat(40)}`

/** The small market that the examples of the API description show. */
export const EXAMPLE_MARKET: readonly Change[] = [
  { type: 'token', token: sampleToken() },
  { type: 'token', token: mainToken(WETH, 'Wrapped Ether', 'WETH', 18, '2000') },
  { type: 'token', token: mainToken(USDC, 'USD Coin', 'USDC', 6, '1') },
  {
    type: 'token',
    token: sampleToken({
      ...{ address: LAUNCHED, name: 'Launched Coin', symbol: 'LNCH' },
      platform: { name: 'pump', createdAt: 1_690_000_000, progressPpm: 420_000, graduatedAt: undefined },
    }),
  },
  { type: 'pair', pair: samplePair() },
  { type: 'windows', windows: sampleWindows() },
  { type: 'windows', windows: sampleWindows({ pair: undefined }) },
  { type: 'windows', windows: sampleWindows({ pair: undefined, token: LAUNCHED }) },
  { type: 'candle', candle: sampleCandle() },
  { type: 'candle', candle: sampleCandle({ start: 1_700_000_040 }) },
  { type: 'trade', trade: sampleTrade() },
  { type: 'trade', trade: sampleTrade({ key: { block: 99, tx: 0, log: 2 }, time: 1_700_000_098 }) },
  { type: 'liquidity', liquidity: sampleLiquidity() },
  { type: 'switch', switch: sampleSwitch() },
  balance(MEME_WETH, 200_000_000_000_000_000n),
  balance(WALLET, 50_000_000_000_000_000n),
  {
    type: 'contract',
    contract: {
      token: MEME,
      time: 1_700_000_001,
      creator: WALLET,
      inspection: {
        ...{ token: MEME, block: { number: 101, hash: TX_HASH }, codeHash: TX_HASH, creator: WALLET },
        ...{ owner: WALLET, proxy: undefined },
        findings: findingsBy((flag) => (flag === 'mint' ? ['mint(address,uint256)'] : [])),
        trial: {
          ...{ pair: MEME_WETH, method: 'simulate' },
          ...{ buy: step(110_000), transfer: step(50_000), sell: step(120_000) },
        },
      },
      holdings: {
        ...{
          hasUnreliableBalances: false,
          creatorPpm: 50_000,
          ownerPpm: 50_000,
          lockedPpm: 200_000,
          largePpm: 50_000,
        },
        pool: undefined,
      },
      score: {
        version: 1,
        points: 15,
        factors: [{ code: 'mint', points: 15, evidence: ['mint(address,uint256)'] }],
      },
    },
  },
]

function mainToken(address: string, name: string, symbol: string, decimals: number, usd: string) {
  return sampleToken({
    ...{ address, name, symbol, decimals, supplyRaw: 10n ** BigInt(decimals + 6), priceUsd: price(usd) },
    ...{ mainPair: undefined, marketCapUsd: value('1000000'), risk: undefined, launch: undefined },
  })
}

function balance(holder: string, amountRaw: bigint): Change {
  return { type: 'balance', balance: { token: MEME, holder, amountRaw, beforeRaw: 0n } }
}

function step(gas: number) {
  return { works: true, taxPpm: 0, gas, reason: undefined }
}

export type ExampleRequest = {
  readonly parameters?: Readonly<Record<string, string | number>>
  readonly body?: unknown
}

const token = { 'token-id': `${MEME}-eth` }
const pair = { 'pair-id': `${MEME_WETH}-eth` }
const candles = { interval: 'k1', from: 1_700_000_000, to: 1_700_000_160 }

/** A request for every operation, by its id. */
export const EXAMPLE_REQUESTS: Readonly<Record<string, ExampleRequest>> = {
  tokenPrices: { body: { token_ids: [`${MEME}-eth`, `${WETH}-eth`], tvl_min: 0 } },
  tokenBatch: { body: { token_ids: [`${MEME}-eth`] } },
  keywordSearch: { parameters: { keyword: 'meme', chain: 'eth', limit: 10 } },
  tokenDetail: { parameters: token },
  contract: { parameters: token },
  topHolders: { parameters: { ...token, limit: 10 } },
  mainPairHistory: { parameters: { ...token, limit: 10 } },
  mainTokens: { parameters: { chain: 'eth' } },
  trendingTokens: { parameters: { chain: 'eth', page_size: 10, explain: 'true' } },
  platformTokens: { parameters: { tag: 'meme', limit: 10 } },
  pairDetail: { parameters: pair },
  pairKlines: { parameters: { ...pair, ...candles } },
  tokenKlines: { parameters: { ...token, ...candles } },
  pairSwaps: { parameters: { ...pair, limit: 1 } },
  pairLiquidity: { parameters: { ...pair, limit: 10 } },
  chains: {},
  udfConfig: {},
  udfTime: {},
  udfSymbols: { parameters: { symbol: `${MEME_WETH}-eth` } },
  udfSearch: { parameters: { query: `${MEME}-eth`, limit: 10 } },
  udfHistory: {
    parameters: { symbol: `${MEME_WETH}-eth`, resolution: '1', from: candles.from, to: candles.to },
  },
  usage: {},
  status: {},
}
