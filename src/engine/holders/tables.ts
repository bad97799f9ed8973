import type { TokenOrigin } from '../../domain/change.ts'
import type { JournaledState, Table } from '../../state/journaled-state.ts'
import { type Codec, signed } from '../../wire/codec.ts'
import { Balances } from './balances.ts'

export type HolderTables = {
  readonly balances: Balances
  /** By token, or by pool for its LP tokens. */
  readonly holdings: Table<Holding>
}

/** Totals over all balances of a token. Sums may be negative until all transfers are read. */
export type Holding = {
  /** All transfers from before the token was first seen are read. */
  readonly isRead: boolean
  /** A sampled balance contradicted its transfers. */
  readonly hasUnreliableBalances: boolean
  readonly holders: number
  /** Addresses that sent more than they received. */
  readonly overdrawn: number
  readonly issuedRaw: bigint
  /** Sent to the zero address, so no longer part of the supply. */
  readonly burnedRaw: bigint
  /** Part of the supply, held by addresses without a known private key. */
  readonly deadRaw: bigint
  readonly lockedRaw: bigint
  /** Reported by the token once and updated by transfers since; undefined if it did not answer. */
  readonly nonCirculating: NonCirculating | undefined
  /** Holders of at least 2 % of the supply, as of their last transfer. */
  readonly large: readonly LargeHolder[]
  /** The first transfer known so far. */
  readonly first: TokenOrigin | undefined
}

/** Needs no transfer history, unlike the sums above. */
export type NonCirculating = {
  /** Held by the zero address and other burn addresses. */
  readonly deadRaw: bigint
  readonly lockedRaw: bigint
  /** Sent to the zero address since the token answered. */
  readonly burnedRaw: bigint
}

export type LargeHolder = { readonly holder: string; readonly amountRaw: bigint }

export function newHolding(isRead: boolean): Holding {
  return {
    isRead,
    hasUnreliableBalances: false,
    holders: 0,
    overdrawn: 0,
    issuedRaw: 0n,
    burnedRaw: 0n,
    deadRaw: 0n,
    lockedRaw: 0n,
    nonCirculating: undefined,
    large: [],
    first: undefined,
  }
}

/** Whether sums of transfers can be published: all transfers are known, and nothing contradicts them. */
export function isPublishable({ isRead, hasUnreliableBalances, overdrawn }: Holding): boolean {
  return isRead && !hasUnreliableBalances && overdrawn === 0
}

/** Reader and writer are by hand, because every transfer changes one. */
export const holdingCodec: Codec<Holding> = {
  write: (w, holding) => {
    w.bool(holding.isRead)
    w.bool(holding.hasUnreliableBalances)
    w.varuint(holding.holders)
    w.varuint(holding.overdrawn)
    signed.write(w, holding.issuedRaw)
    w.biguint(holding.burnedRaw)
    signed.write(w, holding.deadRaw)
    signed.write(w, holding.lockedRaw)
    w.optional(holding.nonCirculating, ({ deadRaw, lockedRaw, burnedRaw }) => {
      for (const amount of [deadRaw, lockedRaw, burnedRaw]) w.biguint(amount)
    })
    w.list(holding.large, ({ holder, amountRaw }) => {
      w.recurringId(holder)
      w.biguint(amountRaw)
    })
    w.optional(holding.first, ({ time, creator }) => {
      w.varuint(time)
      w.id(creator)
    })
  },
  read: (r) => ({
    isRead: r.bool(),
    hasUnreliableBalances: r.bool(),
    holders: r.varuint(),
    overdrawn: r.varuint(),
    issuedRaw: signed.read(r),
    burnedRaw: r.biguint(),
    deadRaw: signed.read(r),
    lockedRaw: signed.read(r),
    nonCirculating: r.optional(() => ({
      deadRaw: r.biguint(),
      lockedRaw: r.biguint(),
      burnedRaw: r.biguint(),
    })),
    large: r.list(() => ({ holder: r.id(), amountRaw: r.biguint() })),
    first: r.optional(() => ({ time: r.varuint(), creator: r.id() })),
  }),
}

export function openHolderTables(state: JournaledState): HolderTables {
  return {
    balances: new Balances(state),
    holdings: state.table('holding', holdingCodec),
  }
}
