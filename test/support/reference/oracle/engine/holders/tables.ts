import type { TokenOrigin } from '../../../../../../src/domain/change.ts'
import type { JournaledState, RecordCodec, Table } from '../../state/journaled-state.ts'
import { readSigned, writeSigned } from '../../wire/field-codec.ts'

export type HolderTables = {
  /** By `<token>/<holder>`; who holds nothing is not there. */
  readonly balances: Table<bigint>
  /** By token, or by pool for its shares. */
  readonly holdings: Table<Holding>
}

/** What is known of all balances of a token together. Any sum may be below zero until all transfers have been read. */
export type Holding = {
  /** All transfers from before it was met have been read. */
  readonly isRead: boolean
  /** It was caught with a balance that its transfers do not explain. */
  readonly hasUnreliableBalances: boolean
  readonly holders: number
  /** Addresses that sent more than they got. */
  readonly overdrawn: number
  readonly issuedRaw: bigint
  /** Sent to the zero address, and so no part of the supply any more. */
  readonly burnedRaw: bigint
  /** Part of the supply, at addresses that nobody has the key of. */
  readonly deadRaw: bigint
  readonly lockedRaw: bigint
  /** As the token answered once, moved by transfers since; unknown where it did not answer. */
  readonly nonCirculating: NonCirculating | undefined
  /** Who held at least a fiftieth of the supply when he last got or gave some. */
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

/** What transfers say can be told: all are known, and nothing contradicts them. */
export function isTellable({ isRead, hasUnreliableBalances, overdrawn }: Holding): boolean {
  return isRead && !hasUnreliableBalances && overdrawn === 0
}

export const balanceCodec: RecordCodec<bigint> = { write: writeSigned, read: readSigned }

const holdingCodec: RecordCodec<Holding> = {
  write: (w, holding) => {
    w.bool(holding.isRead)
    w.bool(holding.hasUnreliableBalances)
    w.varuint(holding.holders)
    w.varuint(holding.overdrawn)
    writeSigned(w, holding.issuedRaw)
    w.biguint(holding.burnedRaw)
    writeSigned(w, holding.deadRaw)
    writeSigned(w, holding.lockedRaw)
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
    issuedRaw: readSigned(r),
    burnedRaw: r.biguint(),
    deadRaw: readSigned(r),
    lockedRaw: readSigned(r),
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
    balances: state.table('balance', balanceCodec),
    holdings: state.table('holding', holdingCodec),
  }
}

export function balanceKey(token: string, holder: string): string {
  return `${token}/${holder}`
}
