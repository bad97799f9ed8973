import type { Price, Value } from '../../../../../../src/domain/money.ts'
import type { ByteReader } from '../../wire/byte-reader.ts'
import type { ByteWriter } from '../../wire/byte-writer.ts'
import { readMoney, writeMoney } from '../../wire/field-codec.ts'
import { subjectOfTrades } from './subject.ts'

/** What the trades of one pair, in one block or one minute, add to its windows, and take from them when they leave. */
export type Contribution = {
  /** Or `ALL_PAIRS`. */
  readonly pair: string
  readonly token: string
  readonly buyUsd: Value
  readonly sellUsd: Value
  readonly buys: number
  readonly sells: number
  /** Of the token. */
  readonly amountRaw: bigint
  /** What the token counted for afterwards, by this pair and by its main pair. */
  readonly pairCloseUsd: Price | undefined
  readonly tokenCloseUsd: Price | undefined
}

/** A wallet that bought, sold, or did both, in a pair. */
export type Visit = {
  /** Or `ALL_PAIRS`. */
  readonly pair: string
  readonly token: string
  readonly wallet: string
  readonly bought: boolean
  readonly sold: boolean
}

/** One contribution for each pair and each quote asset, in the order of their first. */
export function mergedContributions(parts: readonly (readonly Contribution[])[]): Contribution[] {
  const merged = new Map<string, Contribution>()
  // What a token counted for last may have been told with a trade in another of its pairs.
  const closes = new Map<string, Price>()
  for (const part of parts) {
    for (const contribution of part) {
      const { pair, token, tokenCloseUsd } = contribution
      const subject = subjectOfTrades(pair, token)
      const earlier = merged.get(subject)
      merged.set(subject, earlier === undefined ? contribution : sumOf(earlier, contribution))
      if (tokenCloseUsd !== undefined) closes.set(token, tokenCloseUsd)
    }
  }
  return Array.from(merged.values(), (sum) => ({ ...sum, tokenCloseUsd: closes.get(sum.token) }))
}

function sumOf(earlier: Contribution, later: Contribution): Contribution {
  return {
    ...later,
    buyUsd: earlier.buyUsd + later.buyUsd,
    sellUsd: earlier.sellUsd + later.sellUsd,
    buys: earlier.buys + later.buys,
    sells: earlier.sells + later.sells,
    amountRaw: earlier.amountRaw + later.amountRaw,
    pairCloseUsd: later.pairCloseUsd ?? earlier.pairCloseUsd,
  }
}

/** One visit for each wallet and pair, in the order of their first. */
export function mergedVisits(parts: readonly (readonly Visit[])[]): Visit[] {
  const merged = new Map<string, Visit>()
  for (const part of parts) {
    for (const visit of part) {
      const key = `${subjectOfTrades(visit.pair, visit.token)}/${visit.wallet}`
      const earlier = merged.get(key)
      const bought = visit.bought || earlier?.bought === true
      const sold = visit.sold || earlier?.sold === true
      merged.set(key, { ...visit, bought, sold })
    }
  }
  return [...merged.values()]
}

export function writeContribution(w: ByteWriter, contribution: Contribution): void {
  w.recurringId(contribution.pair)
  w.recurringId(contribution.token)
  w.biguint(contribution.buyUsd)
  w.biguint(contribution.sellUsd)
  w.varuint(contribution.buys)
  w.varuint(contribution.sells)
  w.biguint(contribution.amountRaw)
  const isSame = contribution.pairCloseUsd === contribution.tokenCloseUsd
  w.bool(isSame)
  writeMoney(w, contribution.pairCloseUsd)
  if (!isSame) writeMoney(w, contribution.tokenCloseUsd)
}

export function readContribution(r: ByteReader): Contribution {
  const pair = r.recurringId()
  const token = r.recurringId()
  const buyUsd = r.biguint()
  const sellUsd = r.biguint()
  const buys = r.varuint()
  const sells = r.varuint()
  const amountRaw = r.biguint()
  const isSame = r.bool()
  const pairCloseUsd = readMoney(r)
  const tokenCloseUsd = isSame ? pairCloseUsd : readMoney(r)
  return { pair, token, buyUsd, sellUsd, buys, sells, amountRaw, pairCloseUsd, tokenCloseUsd }
}

const BOUGHT = 1
const SOLD = 2

export function writeVisit(w: ByteWriter, { pair, token, wallet, bought, sold }: Visit): void {
  w.recurringId(pair)
  w.recurringId(token)
  w.id(wallet)
  w.u8((bought ? BOUGHT : 0) | (sold ? SOLD : 0))
}

export function readVisit(r: ByteReader): Visit {
  const [pair, token, wallet, did] = [r.recurringId(), r.recurringId(), r.id(), r.u8()]
  return { pair, token, wallet, bought: (did & BOUGHT) !== 0, sold: (did & SOLD) !== 0 }
}
