import type { ByteReader } from '../../wire/byte-reader.ts'
import type { ByteWriter } from '../../wire/byte-writer.ts'

/** When a wallet last bought and sold a token in one pair, in minutes; not kept once that is a day ago. */
export type LastVisit = {
  readonly pair: string
  readonly boughtAt: number | undefined
  readonly soldAt: number | undefined
}

/** By pair: in most cases there is one. */
export type LastVisits = readonly LastVisit[]

/** Numbers of wallets. */
export type Distinct = { readonly makers: number; readonly buyers: number; readonly sellers: number }

/** When somebody last traded, bought and sold. */
export type LastTimes = { readonly [Role in keyof Distinct]: number | undefined }

export const ROLES = ['makers', 'buyers', 'sellers'] as const satisfies readonly (keyof Distinct)[]

/** Of one wallet, in one pair or in all of them. */
export function lastTimes(visits: LastVisits, pair?: string): LastTimes {
  let buyers: number | undefined
  let sellers: number | undefined
  for (const visit of visits) {
    if (pair !== undefined && visit.pair !== pair) continue
    buyers = later(buyers, visit.boughtAt)
    sellers = later(sellers, visit.soldAt)
  }
  return { makers: later(buyers, sellers), buyers, sellers }
}

export function withVisit(
  visits: LastVisits,
  pair: string,
  minute: number,
  did: { readonly bought: boolean; readonly sold: boolean },
): LastVisits {
  const known = visits.find((visit) => visit.pair === pair)
  const boughtAt = did.bought ? minute : known?.boughtAt
  const soldAt = did.sold ? minute : known?.soldAt
  if (known !== undefined && known.boughtAt === boughtAt && known.soldAt === soldAt) return visits
  const visit: LastVisit = { pair, boughtAt, soldAt }
  return known === undefined ? [...visits, visit] : visits.map((each) => (each === known ? visit : each))
}

/** Without what was last done in this minute. */
export function withoutVisit(visits: LastVisits, pair: string, minute: number): LastVisits {
  return visits.flatMap((visit): LastVisit[] => {
    if (visit.pair !== pair) return [visit]
    const boughtAt = visit.boughtAt === minute ? undefined : visit.boughtAt
    const soldAt = visit.soldAt === minute ? undefined : visit.soldAt
    return boughtAt === undefined && soldAt === undefined ? [] : [{ pair, boughtAt, soldAt }]
  })
}

function later(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b)
}

export function writeLastVisits(w: ByteWriter, visits: LastVisits): void {
  w.varuint(visits.length)
  for (const { pair, boughtAt, soldAt } of visits) {
    w.recurringId(pair)
    // No trade is from the first minute of 1970.
    w.varuint(boughtAt ?? 0)
    w.varuint(soldAt ?? 0)
  }
}

export function readLastVisits(r: ByteReader): LastVisits {
  return r.list(() => ({
    pair: r.recurringId(),
    boughtAt: r.varuint() || undefined,
    soldAt: r.varuint() || undefined,
  }))
}

export function writeDistinct(w: ByteWriter, { makers, buyers, sellers }: Distinct): void {
  w.varuint(makers)
  w.varuint(buyers)
  w.varuint(sellers)
}

export function readDistinct(r: ByteReader): Distinct {
  return { makers: r.varuint(), buyers: r.varuint(), sellers: r.varuint() }
}
