import type { Fact, PoolFact, Pricing, StatedPrice, TransfersFact } from '../domain/envelope.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import {
  biguint,
  bool,
  byte,
  bytes,
  type Codec,
  id,
  list,
  optional,
  record,
  recurringId,
  signed,
  union,
  varuint,
} from './codec.ts'
import { inspectionCodec } from './inspection-codec.ts'

const nothing: Codec<object> = { write: () => undefined, read: () => ({}) }

export const pricingCodec = union<Pricing, 'kind'>(
  'kind',
  {
    reserves: [1, nothing],
    sqrtPrice: [2, nothing],
    bins: [3, record({ binStep: varuint })],
    trades: [4, nothing],
  },
  'pricing',
)

const poolFields = record<Required<Omit<PoolFact, 'type'>>>({
  address: id,
  factory: id,
  tokens: list(id),
  pricing: pricingCodec,
  reservesBefore: optional(list(biguint)),
  goalRaw: optional(biguint),
})

const pool: Codec<Omit<PoolFact, 'type'>> = {
  write: (w, fact) => poolFields.write(w, { ...fact, goalRaw: fact.goalRaw }),
  read: (r) => {
    const { goalRaw, ...fact } = poolFields.read(r)
    return goalRaw === undefined ? fact : { ...fact, goalRaw }
  },
}

const tick: Codec<number> = {
  write: (w, value) => signed.write(w, BigInt(value)),
  read: (r) => Number(signed.read(r)),
}

const statedPrice = union<StatedPrice, 'kind'>(
  'kind',
  {
    sqrt: [1, record({ sqrtPriceX96: biguint, tick })],
    bin: [2, record({ id: varuint })],
    exchange: [3, record({ raw0: biguint, raw1: biguint })],
  },
  'price of a pool',
)

const transfers = record<Omit<TransfersFact, 'type'>>({
  address: id,
  upTo: varuint,
  isLast: bool,
  first: optional(record({ time: varuint, sender: id })),
  gains: list(record({ holder: id, amountRaw: signed })),
  issuedRaw: signed,
  burnedRaw: biguint,
  mintedToZeroRaw: biguint,
})

export const factCodec = union<Fact, 'type'>(
  'type',
  {
    pool: [1, pool],
    token: [
      2,
      record({
        address: id,
        nameRaw: bytes,
        symbolRaw: bytes,
        decimals: optional(byte),
        supplyRaw: optional(biguint),
      }),
    ],
    transfers: [3, transfers],
    balance: [4, record({ address: id, holder: id, amountRaw: biguint })],
    inspection: [5, record({ address: id, inspection: inspectionCodec })],
    inspectionFailure: [6, record({ address: id, block: varuint })],
    nonCirculating: [
      7,
      record({ address: id, balances: list(record({ holder: recurringId, amountRaw: biguint })) }),
    ],
    poolState: [8, record({ address: id, reserves: optional(list(biguint)), price: optional(statedPrice) })],
    launch: [
      9,
      record({
        address: id,
        factory: id,
        block: varuint,
        createdAt: optional(varuint),
        graduatedAt: optional(varuint),
      }),
    ],
  },
  'fact type',
)

/** Throws if the fact cannot be written, or not be read again: one such fact would make its whole block unreadable. */
export function expectEncodable(fact: Fact): void {
  const w = new ByteWriter()
  factCodec.write(w, fact)
  const r = new ByteReader(w.finish())
  factCodec.read(r)
  r.end()
}
