import { biguint, list, optional, record, recurringId } from '../../wire/codec.ts'
import { pricingCodec } from '../../wire/fact-codec.ts'
import type { Pool } from './pool.ts'

/** A pool never changes; its prices are stored separately. */
export const poolCodec = record<Pool>({
  address: recurringId,
  factory: recurringId,
  tokens: list(recurringId),
  pricing: pricingCodec,
  goalRaw: optional(biguint),
})
