import {
  CHAIN,
  KLINE,
  LIQUIDITY_PAGE,
  MAIN_PAIR_CHANGE,
  STATUS,
  SWAP_PAGE,
  UDF_CONFIG,
  UDF_FOUND,
  UDF_HISTORY,
  UDF_SYMBOL,
  USAGE,
} from './other-records.ts'
import { PAIR_DETAIL } from './pair-records.ts'
import type { Shape } from './record.ts'
import {
  CONTRACT,
  FOUND_TOKEN_ROW,
  MAIN_TOKEN,
  TOKEN_API_RESPONSE,
  TOKEN_HOLDER,
  TOKEN_PRICE,
  TOKEN_ROW,
  TRENDING,
} from './token-records.ts'

/** The operations of the interface document, then those that the decisions add, copied by hand. */

export type Input = {
  readonly name: string
  readonly in: 'path' | 'query' | 'body'
  readonly type: 'text' | 'chain' | 'integer' | 'token-id' | 'pair-id' | 'token-ids' | readonly string[]
  readonly required?: true
  readonly default?: string | number
  readonly minimum?: number
  /** Maximum value of an integer, maximum length of an array. */
  readonly maximum?: number
}

export type Operation = {
  readonly name: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly cost: number
  readonly inputs: readonly Input[]
  readonly answer: Shape
  /** The chains of the response: its freshness headers refer to them. */
  readonly about: 'a chain' | 'no chain'
  readonly key: 'needed' | 'not needed'
  /** Fields of the example that are unknown. */
  readonly knowledge?: 'some'
  /** A request that is answered: `$token`, `$pair` and so on stand for what is on the market. */
  readonly example: Readonly<Record<string, unknown>>
}

const INTERVALS = ['s1', 'k1', 'k5', 'k15', 'k30', 'k60', 'k120', 'k240', 'k1440', 'k10080'] as const

/** As a charting library names them; days and weeks in two ways. */
const RESOLUTIONS = ['1', '5', '15', '30', '60', '120', '240', '1S', '1D', 'D', '1W', 'W'] as const

const limit = (fallback: number, maximum: number): Input => ({
  ...{ name: 'limit', in: 'query', type: 'integer', default: fallback, minimum: 1, maximum },
})
const tokenIds = (maximum: number): Input => ({
  ...{ name: 'token_ids', in: 'body', type: 'token-ids', required: true, maximum },
})
const tokenId: Input = { name: 'token-id', in: 'path', type: 'token-id', required: true }
const pairId: Input = { name: 'pair-id', in: 'path', type: 'pair-id', required: true }
const chain: Input = { name: 'chain', in: 'query', type: 'chain', required: true }
const klineInputs: readonly Input[] = [
  { name: 'interval', in: 'query', type: INTERVALS, default: 'k1' },
  { name: 'from', in: 'query', type: 'integer', default: 0, minimum: 0 },
  { name: 'to', in: 'query', type: 'integer', minimum: 0 },
  limit(300, 1_000),
  { name: 'unit', in: 'query', type: ['usd', 'eth', 'quote'], default: 'usd' },
  { name: 'fill', in: 'query', type: ['true', 'false'], default: 'false' },
]
const symbol: Input = { name: 'symbol', in: 'query', type: 'pair-id', required: true }
const cursor: Input = { name: 'cursor', in: 'query', type: 'text' }

const keyed = { key: 'needed', about: 'a chain' } as const

export const DOCUMENTED: readonly Operation[] = [
  {
    ...{ name: 'token prices', method: 'POST', path: '/v2/tokens/price', cost: 100, ...keyed },
    inputs: [
      tokenIds(200),
      { name: 'tvl_min', in: 'body', type: 'integer', default: 1_000, minimum: 0 },
      { name: 'tx_24h_volume_min', in: 'body', type: 'integer', default: 0, minimum: 0 },
    ],
    answer: { mapOf: TOKEN_PRICE },
    example: { token_ids: ['$token'] },
  },
  {
    ...{ name: 'token batch', method: 'POST', path: '/v2/tokens/search', cost: 100, ...keyed },
    inputs: [tokenIds(50)],
    answer: { mapOf: TOKEN_ROW },
    example: { token_ids: ['$token'] },
  },
  {
    ...{ name: 'keyword search', method: 'GET', path: '/v2/tokens', cost: 5, ...keyed },
    inputs: [
      { name: 'keyword', in: 'query', type: 'text', required: true },
      { name: 'chain', in: 'query', type: 'chain' },
      limit(100, 300),
      {
        ...{ name: 'orderby', in: 'query', default: 'tx_volume_u_24h' },
        type: ['tx_volume_u_24h', 'market_cap', 'main_pair_tvl', 'fdv'],
      },
    ],
    answer: { arrayOf: FOUND_TOKEN_ROW, max: 300 },
    example: { keyword: 'PEP' },
  },
  {
    ...{ name: 'token detail', method: 'GET', path: '/v2/tokens/{token-id}', cost: 5, ...keyed },
    inputs: [tokenId],
    answer: TOKEN_API_RESPONSE,
    example: { 'token-id': '$token' },
  },
  {
    ...{ name: 'contract', method: 'GET', path: '/v2/contracts/{token-id}', cost: 10, ...keyed },
    inputs: [tokenId],
    answer: CONTRACT,
    example: { 'token-id': '$token' },
  },
  {
    ...{ name: 'top holders', method: 'GET', path: '/v2/tokens/top100/{token-id}', cost: 10, ...keyed },
    inputs: [tokenId, limit(100, 100)],
    answer: { arrayOf: TOKEN_HOLDER, max: 100 },
    example: { 'token-id': '$token' },
  },
  {
    ...{ name: 'main tokens', method: 'GET', path: '/v2/tokens/main', cost: 5, ...keyed },
    inputs: [chain],
    answer: { arrayOf: MAIN_TOKEN },
    example: { chain: 'local' },
    // The dollar is no pair's target: it has no pair, no volume and no windows.
    knowledge: 'some',
  },
  {
    ...{ name: 'trending', method: 'GET', path: '/v2/tokens/trending', cost: 5, ...keyed },
    inputs: [
      chain,
      { name: 'current_page', in: 'query', type: 'integer', default: 0, minimum: 0 },
      { name: 'page_size', in: 'query', type: 'integer', default: 50, minimum: 1, maximum: 100 },
      { name: 'explain', in: 'query', type: ['true', 'false'], default: 'false' },
    ],
    answer: TRENDING,
    example: { chain: 'local' },
    // Contracts and holders of the tokens traded last are unknown until further blocks come.
    knowledge: 'some',
  },
  {
    ...{ name: 'platform', method: 'GET', path: '/v2/tokens/platform', cost: 10, ...keyed },
    inputs: [
      { name: 'tag', in: 'query', type: 'text', required: true },
      limit(100, 300),
      {
        ...{ name: 'orderby', in: 'query', default: 'tx_volume_u_24h' },
        type: ['tx_volume_u_24h', 'main_pair_tvl'],
      },
    ],
    answer: { arrayOf: TOKEN_ROW, max: 300 },
    example: { tag: 'meme' },
  },
  {
    ...{ name: 'pair detail', method: 'GET', path: '/v2/pairs/{pair-id}', cost: 5, ...keyed },
    inputs: [pairId],
    answer: PAIR_DETAIL,
    example: { 'pair-id': '$pair' },
  },
]

export const ADDED: readonly Operation[] = [
  {
    ...{ name: 'pair klines', method: 'GET', path: '/v2/klines/pair/{pair-id}', cost: 10, ...keyed },
    inputs: [pairId, ...klineInputs],
    answer: { arrayOf: KLINE, max: 1_000 },
    example: { 'pair-id': '$pair' },
  },
  {
    ...{ name: 'token klines', method: 'GET', path: '/v2/klines/token/{token-id}', cost: 10, ...keyed },
    inputs: [tokenId, ...klineInputs],
    answer: { arrayOf: KLINE, max: 1_000 },
    example: { 'token-id': '$token' },
  },
  {
    ...{ name: 'swaps', method: 'GET', path: '/v2/txs/{pair-id}', cost: 50, ...keyed },
    inputs: [pairId, limit(100, 1_000), cursor],
    answer: SWAP_PAGE,
    example: { 'pair-id': '$pair' },
  },
  {
    ...{ name: 'liquidity', method: 'GET', path: '/v2/txs/liq/{pair-id}', cost: 50, ...keyed },
    inputs: [pairId, limit(100, 1_000), cursor],
    answer: LIQUIDITY_PAGE,
    example: { 'pair-id': '$pair' },
    // The pool was made when nothing had a price.
    knowledge: 'some',
  },
  {
    ...{
      name: 'main pair history',
      method: 'GET',
      path: '/v2/tokens/main-pairs/{token-id}',
      cost: 10,
      ...keyed,
    },
    inputs: [tokenId, limit(50, 100)],
    answer: { arrayOf: MAIN_PAIR_CHANGE, max: 100 },
    example: { 'token-id': '$token' },
  },
  {
    ...{ name: 'chains', method: 'GET', path: '/v2/chains', cost: 0, ...keyed },
    inputs: [],
    answer: { arrayOf: CHAIN },
    example: {},
  },
  {
    ...{ name: 'usage', method: 'GET', path: '/v2/usage', cost: 0, key: 'needed', about: 'no chain' },
    inputs: [{ name: 'month', in: 'query', type: 'text' }],
    answer: USAGE,
    example: {},
  },
  {
    ...{ name: 'status', method: 'GET', path: '/v2/status', cost: 0, key: 'not needed', about: 'no chain' },
    inputs: [],
    answer: STATUS,
    example: {},
  },
  {
    ...{ name: 'udf config', method: 'GET', path: '/udf/config', cost: 0, key: 'needed', about: 'no chain' },
    inputs: [],
    answer: UDF_CONFIG,
    example: {},
  },
  {
    ...{ name: 'udf symbol', method: 'GET', path: '/udf/symbols', cost: 5, ...keyed },
    inputs: [symbol],
    answer: UDF_SYMBOL,
    example: { symbol: '$pair' },
  },
  {
    ...{ name: 'udf search', method: 'GET', path: '/udf/search', cost: 5, ...keyed },
    inputs: [
      { name: 'query', in: 'query', type: 'text', required: true },
      { name: 'type', in: 'query', type: 'text' },
      { name: 'exchange', in: 'query', type: 'text' },
      limit(10, 30),
    ],
    answer: { arrayOf: UDF_FOUND, max: 30 },
    example: { query: '$token' },
  },
  {
    ...{ name: 'udf history', method: 'GET', path: '/udf/history', cost: 10, ...keyed },
    inputs: [
      symbol,
      { name: 'resolution', in: 'query', type: RESOLUTIONS, required: true },
      { name: 'from', in: 'query', type: 'integer', required: true, minimum: 0 },
      { name: 'to', in: 'query', type: 'integer', required: true, minimum: 0 },
      { name: 'countback', in: 'query', type: 'integer', minimum: 1 },
      { name: 'currencyCode', in: 'query', type: 'text' },
    ],
    answer: UDF_HISTORY,
    example: { symbol: '$pair', resolution: '1', from: 0, to: 4_000_000_000 },
  },
]

export const OPERATIONS: readonly Operation[] = [...DOCUMENTED, ...ADDED]
