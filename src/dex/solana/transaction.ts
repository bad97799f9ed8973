/** A Solana transaction as executed, in one form for every transport. Account keys stay bytes: most are never read. */
export type SolanaTransaction = {
  /** Base58. */
  readonly signature: string
  readonly slot: number
  /** A failed transaction has instructions, logs and events too, but changed nothing. */
  readonly isFailed: boolean
  /** 32 bytes each: the keys of the message, then the writable and the readonly keys from lookup tables. */
  readonly keys: readonly Uint8Array[]
  /** In order of execution: each instruction is followed by the ones it called. */
  readonly instructions: readonly SolanaInstruction[]
  readonly logMessages: readonly string[]
  readonly preTokenBalances: readonly TokenBalance[]
  readonly postTokenBalances: readonly TokenBalance[]
  /** Lamports by key index. */
  readonly preBalances: readonly bigint[]
  readonly postBalances: readonly bigint[]
}

export type SolanaInstruction = {
  /** Index of the program in the transaction's keys. */
  readonly program: number
  /** Indexes in the transaction's keys. */
  readonly accounts: Uint8Array
  readonly data: Uint8Array
  /** 1 for an instruction of the message, 2 for one that it called, and so on. */
  readonly stackHeight: number
}

export type TokenBalance = {
  /** Index of the token account in the transaction's keys. */
  readonly account: number
  /** Base58, as are `owner` and `program`. */
  readonly mint: string
  readonly owner: string | undefined
  /** The token program, which old transactions do not report. */
  readonly program: string | undefined
  readonly amount: bigint
}

/** The account that signs first pays the fee. */
export function feePayer({ keys }: SolanaTransaction): Uint8Array | undefined {
  return keys[0]
}
