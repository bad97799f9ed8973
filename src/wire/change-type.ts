import type { Change } from '../domain/change.ts'

/** Version of a CHANGES message. A changed layout takes the next number, and the one before it is still read. */
export const CHANGES_VERSION = 8
/** Its trades have no holdings. */
export const FORMER_CHANGES_VERSION = 7

export const CAUSES = ['block', 'undo', 'final'] as const

/** A change of type `candle` is a run of adjacent candles of one pair. */
export const TYPE = {
  trade: 1,
  candle: 2,
  pair: 3,
  token: 4,
  tradeRemoved: 5,
  candleRemoved: 6,
  pairRemoved: 7,
  tokenRemoved: 8,
  liquidity: 9,
  windows: 10,
  switch: 11,
  liquidityRemoved: 12,
  windowsRemoved: 13,
  switchRemoved: 14,
  balance: 15,
  contract: 16,
  contractRemoved: 17,
} as const satisfies Record<Change['type'], number>

/** In place of a type: the end of the list. */
export const END = 0
