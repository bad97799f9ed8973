import fc from 'fast-check'
import type {
  BalanceFact,
  BlockEnvelope,
  NonCirculatingFact,
  RawLog,
  TransfersFact,
} from '../../../src/domain/envelope.ts'
import { words } from '../builders/abi-words.ts'
import { padded, rawLog } from '../builders/raw-log.ts'
import { referenceHolders } from '../reference/reference-holders.ts'

/** Random moves of tokens and of pools' shares, older ones that are read later, and balances asked for. */

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const DEPOSIT = '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c'
const WITHDRAWAL = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65'
export const ZERO = `0x${'0'.repeat(40)}`
const address = (hex: string): string => `0x${hex.padStart(40, '0')}`
const DEAD = [address('dead'), address('1')]
export const LOCKERS = [address('10c1'), address('10c2')]
/** The addresses whose balances a reader samples. */
const ASKED = [...DEAD, ZERO, '0xdead000000000000000042069420694206942069', ...LOCKERS]
export const HOLDERS = [...['b1', 'b2', 'b3'].map(address), ...DEAD, ...LOCKERS]
/** They sign the first two transactions of each block. */
const SIGNERS = ['ee00', 'ee02'].map(address)

type Move = { readonly from: string; readonly to: string; readonly amount: bigint }

export const FORMS = [
  'plain',
  'unindexed',
  'nft',
  'dirty',
  'short',
  'deposit',
  'withdrawal',
  'deposit twice',
] as const

export type MoveAction = {
  readonly do: 'move'
  /** Which token, or which pool's shares. */
  readonly of: number
  readonly form: (typeof FORMS)[number]
  readonly move: Move
  readonly newTx: boolean
}

/** A part of the transfers from before a token's discovery, to be published in some later block. */
export type OlderMoves = {
  readonly of: number
  readonly moves: readonly Move[]
  readonly isLast: boolean
  /** When the very first one happened, in seconds since the log began. */
  readonly since: number
  readonly isImpossible: boolean
}

export type Sample = { readonly of: number; readonly holder: string; readonly off: bigint }

/** What a token answers of burn addresses and lockers, some of which may not have been asked for. */
export type Answered = {
  readonly of: number
  readonly amounts: readonly bigint[]
  readonly isComplete: boolean
}

const amount: fc.Arbitrary<bigint> = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(0n, 1n, 2n, 5n, 10n ** 18n) },
  { weight: 4, arbitrary: fc.bigInt({ min: 0n, max: 10n ** 24n }) },
  { weight: 1, arbitrary: fc.constantFrom(2n ** 254n, 2n ** 255n - 1n, 2n ** 255n, 2n ** 256n - 1n) },
)
const holder = fc.constantFrom(...HOLDERS, ...SIGNERS, ...SIGNERS, ...SIGNERS)
const anyMove: fc.Arbitrary<Move> = fc.oneof(
  // Without it nobody would have anything to give.
  { weight: 3, arbitrary: fc.record({ from: fc.constant(ZERO), to: holder, amount }) },
  { weight: 4, arbitrary: fc.record({ from: holder, to: holder, amount }) },
  { weight: 1, arbitrary: fc.record({ from: holder, to: fc.constant(ZERO), amount }) },
  { weight: 1, arbitrary: fc.record({ from: fc.constant(ZERO), to: fc.constant(ZERO), amount }) },
)
const of = fc.nat(20)
const form = fc.oneof(
  { weight: 6, arbitrary: fc.constant('plain' as const) },
  { weight: 6, arbitrary: fc.constantFrom(...FORMS) },
)

export const moveAction: fc.Arbitrary<MoveAction> = fc.record({
  do: fc.constant('move' as const),
  of,
  form,
  move: anyMove,
  newTx: fc.boolean(),
})
export const olderMoves: fc.Arbitrary<OlderMoves> = fc.record({
  of,
  moves: fc.array(anyMove, { maxLength: 5 }),
  isLast: fc.boolean(),
  since: fc.constantFrom(-1_000, -1, 0, 12),
  isImpossible: fc.oneof({ weight: 20, arbitrary: fc.constant(false) }, fc.constant(true)),
})
export const sample: fc.Arbitrary<Sample> = fc.record({
  of,
  holder,
  off: fc.oneof({ weight: 6, arbitrary: fc.constant(0n) }, fc.constantFrom(1n, -1n)),
})

export const answered: fc.Arbitrary<Answered> = fc.record({
  of,
  amounts: fc.array(amount, { minLength: ASKED.length, maxLength: ASKED.length }),
  isComplete: fc.oneof({ weight: 6, arbitrary: fc.constant(true) }, fc.constant(false)),
})

export function answeredFact(address: string, { amounts, isComplete }: Answered): NonCirculatingFact {
  const balances = ASKED.map((holder, place) => ({ holder, amountRaw: amounts[place] ?? 0n }))
  return { type: 'nonCirculating', address, balances: isComplete ? balances : balances.slice(1) }
}

export function moveLogs(token: string, { form, move: { from, to, amount } }: MoveAction): RawLog[] {
  const parties = [padded(from), padded(to)]
  const plain = rawLog(token, [TRANSFER, ...parties], words(amount))
  const owner = padded(from === ZERO ? to : from)
  const deposit = rawLog(token, [DEPOSIT, owner], words(amount))
  switch (form) {
    case 'plain':
      return [plain]
    case 'unindexed':
      return [rawLog(token, [TRANSFER], words(...parties, amount))]
    case 'nft':
      // Even one that says an amount as well is none of ours.
      return [rawLog(token, [TRANSFER, ...parties, words(amount)], words(amount))]
    case 'dirty':
      return [rawLog(token, [TRANSFER, `0x01${parties[0]?.slice(4)}`, padded(to)], words(amount))]
    case 'short':
      return [{ ...plain, data: plain.data.subarray(1) }]
    case 'deposit':
      return [deposit]
    case 'withdrawal':
      return [rawLog(token, [WITHDRAWAL, owner], words(amount))]
    case 'deposit twice':
      return [deposit, rawLog(token, [TRANSFER, padded(ZERO), owner], words(amount))]
  }
}

/** As a reader publishes it: for a token with history left to read, with the very first transfer once. */
export function olderFact(
  chain: readonly BlockEnvelope[],
  pending: readonly TransfersFact[],
  { of, moves, isLast, since, isImpossible }: OlderMoves,
): TransfersFact | undefined {
  const before = [...chain.flatMap(({ facts }) => facts.filter(isTransfers)), ...pending]
  const open = [...new Set(chain.flatMap(addressesToRead))].filter((each) =>
    before.every((fact) => fact.address !== each || !fact.isLast),
  )
  const which = open[of % open.length]
  if (which === undefined) return undefined
  const own = before.filter((fact) => fact.address === which)
  const isBegun = own.some((fact) => fact.first !== undefined)
  const common = {
    type: 'transfers',
    address: which,
    upTo: own.length,
    isLast,
    first:
      isBegun || moves.length === 0
        ? undefined
        : { time: (chain[0]?.time ?? 0) + since, sender: address('5e') },
  } as const
  if (isImpossible) return { ...common, gains: [], issuedRaw: 0n, burnedRaw: 0n, mintedToZeroRaw: 2n ** 255n }
  const total = (wanted: (move: Move) => boolean): bigint =>
    moves.filter(wanted).reduce((sum, move) => sum + move.amount, 0n)
  const burnedRaw = total(({ from, to }) => from !== ZERO && to === ZERO)
  return {
    ...common,
    gains: HOLDERS.map((each) => ({
      holder: each,
      amountRaw: total(({ to }) => to === each) - total(({ from }) => from === each),
    })),
    issuedRaw: total(({ from }) => from === ZERO) - burnedRaw,
    burnedRaw,
    mintedToZeroRaw: total(({ from, to }) => from === ZERO && to === ZERO),
  }
}

/** A token's balances after these blocks if its transfers are complete, and then other ones. */
export function sampleFact(
  chain: readonly BlockEnvelope[],
  token: string,
  isWrappedNative: boolean,
  { holder, off }: Sample,
): BalanceFact | undefined {
  const { balances } = referenceHolders(chain, token, { isWrappedNative, lockers: new Set() })
  const amountRaw = (balances.get(holder) ?? 0n) + off
  return amountRaw < 0n ? undefined : { type: 'balance', address: token, holder, amountRaw }
}

function isTransfers(fact: BlockEnvelope['facts'][number]): fact is TransfersFact {
  return fact.type === 'transfers'
}

/** New pools have no older transfers. */
function addressesToRead({ facts }: BlockEnvelope): string[] {
  return facts.flatMap((fact) => {
    if (fact.type === 'token') return [fact.address]
    return fact.type === 'pool' && fact.reservesBefore === undefined ? [fact.address] : []
  })
}
