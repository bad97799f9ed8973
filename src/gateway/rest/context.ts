import type { ChainFamily } from '../../domain/ids.ts'
import type { MarketReader } from '../market-view.ts'

/** What the REST operations are made from. */
export type RestContext = {
  readonly view: MarketReader
  readonly familyOf: (chain: string) => ChainFamily | undefined
}
