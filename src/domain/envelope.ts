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

export type Fact = PoolFact | TokenFact

/** A pool whose factory is allow-listed, met for the first time. */
export type PoolFact = {
  readonly type: 'pool'
  readonly address: string
  readonly factory: string
  readonly token0: string
  readonly token1: string
}

/** What a token said of itself when first met. What it did not say is left out. */
export type TokenFact = {
  readonly type: 'token'
  readonly address: string
  readonly name: string
  readonly symbol: string
  readonly decimals: number | undefined
  readonly supplyRaw: bigint | undefined
}
