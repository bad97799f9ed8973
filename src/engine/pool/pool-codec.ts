import { biguint, list, optional, record, recurringId } from '../../wire/codec.ts'
import { pricingCodec } from '../../wire/fact-codec.ts'
import type { Pool } from './pool.ts'

/** A pool never changes: what it asks stands elsewhere. */
export const poolCodec = record<Pool>({
  address: recurringId,
  factory: recurringId,
  tokens: list(recurringId),
  pricing: pricingCodec,
  goalRaw: optional(biguint),
})
