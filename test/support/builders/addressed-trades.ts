import type { PairTrades } from '../../../src/engine/window/gathered-trades.ts'
import type { Visits } from '../../../src/engine/window/visits.ts'
import { ByteWriter } from '../../../src/wire/byte-writer.ts'

/** Trades whose wallets are identified by their addresses. */
export type AddressedTrades = Omit<PairTrades, 'buyers' | 'sellers'> & {
  readonly buyers: readonly string[]
  readonly sellers: readonly string[]
}

/** The same as a block gathers them. */
export function gathered(trades: AddressedTrades, visits: Visits): PairTrades {
  const walletOf = (address: string): number => {
    const w = new ByteWriter()
    w.id(address)
    return visits.walletOf({ message: w.finish(), fromAt: 0 })
  }
  return { ...trades, buyers: trades.buyers.map(walletOf), sellers: trades.sellers.map(walletOf) }
}
