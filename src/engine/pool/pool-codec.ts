import type { RecordCodec } from '../../state/journaled-state.ts'
import { readPricing, writePricing } from '../../wire/envelope-codec.ts'
import type { Pool } from './pool.ts'

/** A pool never changes: what it asks stands elsewhere. */
export const poolCodec: RecordCodec<Pool> = {
  write: (w, { address, factory, tokens, pricing, goalRaw }) => {
    w.recurringId(address)
    w.recurringId(factory)
    w.list(tokens, (token) => w.recurringId(token))
    writePricing(w, pricing)
    w.optional(goalRaw, (known) => w.biguint(known))
  },
  read: (r) => ({
    address: r.id(),
    factory: r.id(),
    tokens: r.list(() => r.id()),
    pricing: readPricing(r),
    goalRaw: r.optional(() => r.biguint()),
  }),
}
