import type { Inspection } from './inspection.ts'

/** What the reader appends to the BLOCKS log of a chain: three kinds, nothing else, in total order. */
export type Envelope = BlockEnvelope | UndoEnvelope | FinalEnvelope

export type BlockRef = { readonly number: number; readonly hash: string }

export type BlockEnvelope = {
  readonly kind: 'block'
  readonly chain: string
  readonly number: number
  readonly hash: string
  readonly parentHash: string
  /** Unix seconds: the only clock the engine knows. */
  readonly time: number
  /** Transactions holding at least one log of a known program, in chain order; raw, so that a decoder bug is mended by replay. */
  readonly transactions: readonly RawTransaction[]
  /** What had to be asked from the node to make sense of the logs. */
  readonly facts: readonly Fact[]
}

/** Everything after `lastValid` never happened. */
export type UndoEnvelope = { readonly kind: 'undo'; readonly chain: string; readonly lastValid: BlockRef }

/** Nothing at or below `upTo` can be undone any more. */
export type FinalEnvelope = { readonly kind: 'final'; readonly chain: string; readonly upTo: BlockRef }

export type RawTransaction = {
  readonly index: number
  readonly hash: string
  readonly from: string
  readonly logs: readonly RawLog[]
}

export type RawLog = {
  /** Index in the block, not in the transaction. */
  readonly index: number
  readonly address: string
  readonly topics: readonly string[]
  readonly data: Uint8Array
}

export type Fact =
  | PoolFact
  | TokenFact
  | TransfersFact
  | BalanceFact
  | NonCirculatingFact
  | InspectionFact
  | InspectionFailureFact

/** A pool whose factory is allow-listed, met for the first time. */
export type PoolFact = {
  readonly type: 'pool'
  /** Of its contract; where it has none of its own, its 32-byte id. */
  readonly address: string
  readonly factory: string
  /** In the pool's own order: two in most, more in some. */
  readonly tokens: readonly string[]
  readonly pricing: Pricing
  /** What it held before this block, in the same order; left out where events tell, or nobody does. */
  readonly reservesBefore: readonly bigint[] | undefined
  /** What a bonding curve has to raise of its second token, where it says. */
  readonly goalRaw?: bigint | undefined
}

/** What the price of a pool follows from. */
export type Pricing =
  /** The ratio of what it holds. */
  | { readonly kind: 'reserves' }
  /** A square root that the pool keeps and tells. */
  | { readonly kind: 'sqrtPrice' }
  /** The active one of a ladder of prices; each is `binStep` hundredths of a percent above the one below. */
  | { readonly kind: 'bins'; readonly binStep: number }
  /** Nothing but what was paid. */
  | { readonly kind: 'trades' }

/** What a token said of itself when first met. What it did not say is left out. */
export type TokenFact = {
  readonly type: 'token'
  readonly address: string
  /** As answered, however ugly, cut at a limit: what is shown is cleaned first. */
  readonly nameRaw: Uint8Array
  readonly symbolRaw: Uint8Array
  readonly decimals: number | undefined
  readonly supplyRaw: bigint | undefined
}

/**
 * Transfers of a token, or of a pool's shares, from before it was met, some blocks of them summed up. All that
 * happened since is in the blocks themselves, so these can come at any later time.
 */
export type TransfersFact = {
  readonly type: 'transfers'
  readonly address: string
  /** Of what comes before, all was told before. */
  readonly upTo: number
  /** Nothing is missing any more. */
  readonly isLast: boolean
  /** The very first one of all, if it is among these. */
  readonly first: { readonly time: number; readonly sender: string } | undefined
  /** What each address gained, or lost if below zero. */
  readonly gains: readonly { readonly holder: string; readonly amountRaw: bigint }[]
  /** Made, less what went back to the zero address. */
  readonly issuedRaw: bigint
  readonly burnedRaw: bigint
  /** Made for the zero address itself. */
  readonly stillbornRaw: bigint
}

/** What was found out about a token's contract, in the state after an earlier block. */
export type InspectionFact = {
  readonly type: 'inspection'
  readonly address: string
  readonly inspection: Inspection
}

/** An inspection that has no valid result: recorded, so that the queue moves on to the next contract. */
export type InspectionFailureFact = {
  readonly type: 'inspectionFailure'
  readonly address: string
  /** The block whose state was inspected. */
  readonly block: number
}

/** What a token says that somebody holds after this block: whether its transfers tell the truth. */
export type BalanceFact = {
  readonly type: 'balance'
  readonly address: string
  readonly holder: string
  readonly amountRaw: bigint
}

/** What burn addresses and lockers hold of a token after this block, as the token answers; each that was asked for. */
export type NonCirculatingFact = {
  readonly type: 'nonCirculating'
  readonly address: string
  readonly balances: readonly { readonly holder: string; readonly amountRaw: bigint }[]
}
