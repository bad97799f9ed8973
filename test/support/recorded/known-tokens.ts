import type { TokenFact } from '../../../src/domain/envelope.ts'

/** Symbol and decimals of tokens that recordings are full of, as is commonly known; no address means two things. */
const KNOWN: Readonly<Record<string, readonly [string, number]>> = {
  // Ethereum
  '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2': ['WETH', 18],
  '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48': ['USDC', 6],
  '0xdac17f958d2ee523a2206206994597c13d831ec7': ['USDT', 6],
  '0x6b175474e89094c44da98b954eedeac495271d0f': ['DAI', 18],
  '0x2260fac5e5542a773aa44fbcfedf7c193bc2c599': ['WBTC', 8],
  '0x95ad61b0a150d79219dcf64e1e6cc01f0b64c4ce': ['SHIB', 18],
  '0x514910771af9ca656af840dff83e8264ecf986ca': ['LINK', 18],
  '0x1f9840a85d5af5bf1d1762f925bdaddc4201f984': ['UNI', 18],
  '0x5a98fcbea516cf06857215779fd812ca3bef1b32': ['LDO', 18],
  '0xc011a73ee8576fb46f5e1c5751ca3b9fe0af2a6f': ['SNX', 18],
  '0x111111111117dc0aa78b770fa6a738034120c302': ['1INCH', 18],
  '0x7d1afa7b718fb893db30a3abc0cfc608aacfebb0': ['MATIC', 18],
  '0x7fc66500c84a76ad7e9c93437bfc5ac33e2ddae9': ['AAVE', 18],
  '0x6982508145454ce325ddbe47a25d4ec3d2311933': ['PEPE', 18],
  '0x853d955acef822db058eb8505911ed77f175b99e': ['FRAX', 18],
  '0xd533a949740bb3306d119cc777fa900ba034cd52': ['CRV', 18],
  '0x9f8f72aa9304c8b593d555f12ef6589cc3a579a2': ['MKR', 18],
  '0x2b591e99afe9f32eaa6214f7b7629768c40eeb39': ['HEX', 8],
  // Polygon
  '0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270': ['WMATIC', 18],
  '0x2791bca1f2de4661ed88a30c99a7a9449aa84174': ['USDC.e', 6],
  '0xc2132d05d31c914a87c6611c10748aeb04b58e8f': ['USDT', 6],
  '0x8f3cf7ad23cd3cadbd9735aff958023239c6a063': ['DAI', 18],
  '0x7ceb23fd6bc0add59e62ac25578270cff1b9f619': ['WETH', 18],
  '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359': ['USDC', 6],
  '0x1bfd67037b42cf73acf2047067bd4f2c47d9bfd6': ['WBTC', 8],
  // Optimism and Base
  '0x4200000000000000000000000000000000000006': ['WETH', 18],
  '0x0b2c639c533813f4aa9d7837caf62653d097ff85': ['USDC', 6],
  '0x7f5c764cbc14f9669b88837ca1490cca17c31607': ['USDC.e', 6],
  '0x94b008aa00579c1307b0ef2c499ad98a8ce58e58': ['USDT', 6],
  '0xda10009cbd5d07dd0cecc66161fc93d7c9000da1': ['DAI', 18],
  '0x4200000000000000000000000000000000000042': ['OP', 18],
  '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913': ['USDC', 6],
  '0xd9aaec86b65d86f6a7b5b1b0c42ffa531710b6ca': ['USDbC', 6],
  // Arbitrum
  '0xaf88d065e77c8cc2239327c5edb3a432268e5831': ['USDC', 6],
  '0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9': ['USDT', 6],
  '0x82af49447d8a07e3bd95bd0d56f35241523fbab1': ['WETH', 18],
  // Cronos
  '0x5c7f8a570d578ed84e63fdfa7b1ee72deae1ae23': ['WCRO', 18],
  '0xc21223249ca28397b4b6541dffaecc539bff0c59': ['USDC', 6],
}

/** A token as a node returns it; for an unknown one, a token that returns nothing. */
export function knownToken(address: string): TokenFact {
  const [symbol, decimals] = KNOWN[address] ?? ['', undefined]
  const text = Buffer.from(symbol)
  return { type: 'token', address, nameRaw: text, symbolRaw: text, decimals, supplyRaw: undefined }
}
