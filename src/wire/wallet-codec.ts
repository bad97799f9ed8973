import type { TradeHoldings } from '../domain/change.ts'
import type { WalletBalances, WalletHolding, WalletToken } from '../domain/wallet-balances.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { readMoney, writeMoney } from './field-codec.ts'

/** By hand, because every Solana trade has these records. */

export function writeWallet(w: ByteWriter, { nativeRaw, tokens }: WalletBalances): void {
  writeMoney(w, nativeRaw)
  w.list(tokens, ({ token, amountRaw, accounts }) => {
    w.recurringId(token)
    w.biguint(amountRaw)
    w.u8(accounts)
  })
}

export function readWallet(r: ByteReader): WalletBalances {
  return { nativeRaw: readMoney(r), tokens: r.list(() => readWalletToken(r)) }
}

function readWalletToken(r: ByteReader): WalletToken {
  return { token: r.recurringId(), amountRaw: r.biguint(), accounts: r.u8() }
}

/** Fields in the order of the group `holdings` of a trade's layout. */
export function writeHoldings(w: ByteWriter, holdings: TradeHoldings | undefined): void {
  w.bool(holdings !== undefined)
  if (holdings === undefined) return
  w.bool(holdings.isToken0Sold)
  writeMoney(w, holdings.nativeRaw)
  writeHolding(w, holdings.sold)
  writeHolding(w, holdings.bought)
}

export function readHoldings(r: ByteReader): TradeHoldings | undefined {
  if (!r.bool()) return undefined
  return {
    isToken0Sold: r.bool(),
    nativeRaw: readMoney(r),
    sold: readHolding(r),
    bought: readHolding(r),
  }
}

function writeHolding(w: ByteWriter, holding: WalletHolding | undefined): void {
  writeMoney(w, holding?.amountRaw)
  w.u8(holding?.accounts ?? 0)
}

function readHolding(r: ByteReader): WalletHolding | undefined {
  const amountRaw = readMoney(r)
  const accounts = r.u8()
  return amountRaw === undefined ? undefined : { amountRaw, accounts }
}
