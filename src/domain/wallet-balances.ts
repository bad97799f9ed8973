/** Balances of a transaction's signer after the transaction, as far as the chain reports them with it. */
export type WalletBalances = {
  /** In base units of the native coin; `undefined` means unknown. */
  readonly nativeRaw: bigint | undefined
  readonly tokens: readonly WalletToken[]
}

export type WalletToken = WalletHolding & { readonly token: string }

export type WalletHolding = {
  /** Sum over the token accounts of the wallet that the transaction names. */
  readonly amountRaw: bigint
  /** Bits of `ACCOUNT_CHANGE`. */
  readonly accounts: number
}

/** What a transaction did to token accounts of the wallet. A cleared account stays open with a balance of zero. */
export const ACCOUNT_CHANGE = { created: 1, closed: 2, cleared: 4 } as const
