export const TABLE_NAMES = [
  'trades',
  'liquidity',
  'candles',
  'pairs',
  'tokens',
  'windows',
  'switches',
  'balances',
  'token_search',
  'contracts',
] as const

export type TableName = (typeof TABLE_NAMES)[number]
