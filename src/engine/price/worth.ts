import type { Price } from '../../domain/money.ts'

/** The value of one whole unit of a coin, if known. */
export type Worth = { readonly usd: Price | undefined; readonly native: Price | undefined }

export const UNKNOWN_WORTH: Worth = { usd: undefined, native: undefined }
