import type { TokenHolding, TokenOrigin } from '../../../src/domain/change.ts'
import type {
  BlockEnvelope,
  NonCirculatingFact,
  RawLog,
  RawTransaction,
  TransfersFact,
} from '../../../src/domain/envelope.ts'

/** Holders of one token, or of one pool's LP tokens, the slow and obvious way: everything is summed again each time. */

type Move = { readonly from: string; readonly to: string; readonly amount: bigint }
/** What is folded in one go: the moves of a block, or what older ones come to. */
type Piece = { readonly moves: readonly Move[] } | { readonly older: TransfersFact }

export type ReferenceHolders = {
  /** As far as they are trusted; addresses without a balance are absent. */
  readonly balances: ReadonlyMap<string, bigint>
  /** Without what follows from the supply. */
  readonly holding: Omit<TokenHolding, 'circulatingRaw'> | undefined
  /** Part of the supply, though nobody can take it. */
  readonly deadRaw: bigint
  readonly origin: TokenOrigin | undefined
}

const ZERO = `0x${'0'.repeat(40)}`
const DEAD = [
  '0x000000000000000000000000000000000000dead',
  '0x0000000000000000000000000000000000000001',
  '0xdead000000000000000042069420694206942069',
]
const LARGEST = 2n ** 255n - 1n

export function referenceHolders(
  chain: readonly BlockEnvelope[],
  address: string,
  { isWrappedNative, lockers }: { readonly isWrappedNative: boolean; readonly lockers: ReadonlySet<string> },
): ReferenceHolders {
  let pieces: Piece[] = []
  let isRead = false
  let hasUnreliableBalances = false
  let first: TokenOrigin | undefined
  /** What the token answered, and all that moved after that. */
  let answer: { readonly fact: NonCirculatingFact; readonly since: Move[] } | undefined
  for (const [index, block] of sinceMet(chain, address).entries()) {
    const meeting = meetingIn(block, address)
    if (index === 0 && meeting?.type === 'pool')
      isRead ||= meeting.reservesBefore?.every((reserve) => reserve === 0n) ?? false
    const moves = block.transactions.flatMap((transaction) => {
      const own = movesIn(transaction, address, isWrappedNative)
      if (own.length > 0) first ??= { time: block.time, creator: transaction.from }
      return own
    })
    const older = block.facts.filter((fact) => fact.type === 'transfers' && fact.address === address)
    for (const piece of [{ moves }, ...older.map((fact) => ({ older: fact as TransfersFact }))]) {
      if ('older' in piece) {
        if (isRead) continue
        isRead = piece.older.isLast
        if (piece.older.first) first = { time: piece.older.first.time, creator: piece.older.first.sender }
      }
      hasUnreliableBalances ||= !isPossible([...pieces, piece], lockers)
      if (!hasUnreliableBalances) pieces = [...pieces, piece]
    }
    if (answer !== undefined) {
      answer = { ...answer, since: [...answer.since, ...moves] }
      if (nonCirculatingAfter(answer, lockers) === undefined) answer = undefined
    }
    for (const fact of block.facts) {
      if (fact.type !== 'nonCirculating' || fact.address !== address) continue
      if (nonCirculatingAfter({ fact, since: [] }, lockers) !== undefined) answer = { fact, since: [] }
    }
    for (const fact of block.facts) {
      if (fact.type !== 'balance' || fact.address !== address || !isRead) continue
      hasUnreliableBalances ||= balanceOf(pieces, fact.holder) !== fact.amountRaw
    }
  }
  const all = holdersIn(pieces).map((holder) => [holder, balanceOf(pieces, holder)] as const)
  const balances = new Map(all.filter(([, amount]) => amount !== 0n))
  const isComplete = isRead && !hasUnreliableBalances && [...balances.values()].every((amount) => amount > 0n)
  const answered = answer && nonCirculatingAfter(answer, lockers)
  const isEarly = !isRead && !hasUnreliableBalances && answered !== undefined
  const deadRaw = answered?.deadRaw ?? deadIn(pieces)
  const counted = isComplete
    ? { dead: deadIn(pieces), burned: burnedIn(pieces) }
    : { dead: answered?.deadRaw ?? 0n, burned: answered?.burnedRaw ?? 0n }
  return {
    balances,
    holding:
      isComplete || isEarly
        ? {
            holders: isComplete ? balances.size : undefined,
            burnedRaw: (isWrappedNative ? 0n : counted.burned) + counted.dead,
            lockedRaw: answered?.lockedRaw ?? sum([...lockers].map((locker) => balanceOf(pieces, locker))),
          }
        : undefined,
    deadRaw,
    origin: isRead ? first : undefined,
  }
}

/** What a wallet held after a transaction, if all transfers were known before its block. */
export function referenceHeld(
  chain: readonly BlockEnvelope[],
  address: string,
  { wallet, block, tx }: { readonly wallet: string; readonly block: number; readonly tx: number },
  options: { readonly isWrappedNative: boolean; readonly lockers: ReadonlySet<string> },
): { amountRaw: bigint; accounts: number } | undefined {
  const before = referenceHolders(
    chain.filter(({ number }) => number < block),
    address,
    options,
  )
  if (before.holding?.holders === undefined || address === ZERO) return undefined
  const transactions = chain.find(({ number }) => number === block)?.transactions ?? []
  const balanceAfter = (index: number): bigint => {
    const until = transactions.filter((transaction) => transaction.index <= index)
    const moves = until.flatMap((transaction) => movesIn(transaction, address, options.isWrappedNative))
    return (before.balances.get(wallet) ?? 0n) + balanceOf([{ moves }], wallet)
  }
  const [earlier, amountRaw] = [balanceAfter(tx - 1), balanceAfter(tx)]
  if (earlier < 0n || amountRaw < 0n || amountRaw > LARGEST) return undefined
  const isNew = earlier === 0n && amountRaw > 0n
  const isEmptied = earlier > 0n && amountRaw === 0n
  return { amountRaw, accounts: isNew ? 1 : isEmptied ? 4 : 0 }
}

/** Undefined where not everybody was asked for, or an amount cannot be. */
function nonCirculatingAfter(
  { fact, since }: { readonly fact: NonCirculatingFact; readonly since: readonly Move[] },
  lockers: ReadonlySet<string>,
): { deadRaw: bigint; lockedRaw: bigint; burnedRaw: bigint } | undefined {
  const answered = (holder: string): bigint | undefined =>
    fact.balances.findLast((balance) => balance.holder === holder)?.amountRaw
  if (![ZERO, ...DEAD, ...lockers].every((holder) => answered(holder) !== undefined)) return undefined
  const after = (holder: string): bigint => (answered(holder) ?? 0n) + balanceOf([{ moves: since }], holder)
  const amounts = {
    deadRaw:
      (answered(ZERO) ?? 0n) + deadIn([{ moves: since }]) + sum(DEAD.map((dead) => answered(dead) ?? 0n)),
    lockedRaw: sum([...lockers].map(after)),
    burnedRaw: burnedIn([{ moves: since }]),
  }
  return Object.values(amounts).every((amount) => amount >= 0n && amount <= LARGEST) ? amounts : undefined
}

/** What a token's supply is after all these blocks: as it said when met, and then by what was made and unmade. */
export function referenceSupply(
  chain: readonly BlockEnvelope[],
  address: string,
  isWrappedNative: boolean,
): bigint | undefined {
  const isMeeting = ({ facts }: BlockEnvelope): boolean =>
    facts.some((fact) => fact.type === 'token' && fact.address === address)
  const met = chain.findIndex(isMeeting)
  const fact = chain[met]?.facts.find((each) => each.type === 'token' && each.address === address)
  let supply = fact?.type === 'token' ? fact.supplyRaw : undefined
  for (const { transactions } of chain.slice(met + 1)) {
    const moves = transactions.flatMap((each) => movesIn(each, address, isWrappedNative))
    const made = issuedIn([{ moves }])
    if (made === 0n || supply === undefined) continue
    supply = supply + made < 0n || supply + made > LARGEST ? undefined : supply + made
  }
  return supply
}

function sinceMet(chain: readonly BlockEnvelope[], address: string): readonly BlockEnvelope[] {
  const met = chain.findIndex((block) => meetingIn(block, address) !== undefined)
  return met === -1 ? [] : chain.slice(met)
}

function meetingIn({ facts }: BlockEnvelope, address: string) {
  return facts.find((fact) => (fact.type === 'token' || fact.type === 'pool') && fact.address === address)
}

function movesIn({ logs }: RawTransaction, address: string, isWrappedNative: boolean): Move[] {
  const own = logs.filter((log) => log.address === address)
  const transfers = own.flatMap(transferIn)
  return own.flatMap((log) => {
    const [wrapping] = isWrappedNative ? wrappingIn(log) : []
    if (wrapping === undefined) return transferIn(log)
    const isDuplicate = transfers.some(
      ({ from, to, amount }) => from === wrapping.from && to === wrapping.to && amount === wrapping.amount,
    )
    return isDuplicate ? [] : [wrapping]
  })
}

function transferIn({ topics, data }: RawLog): Move[] {
  if (topics[0] !== '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef') return []
  const fields = [...topics.slice(1), ...hexWords(data)]
  if (!(topics.length === 3 && data.length === 32) && !(topics.length === 1 && data.length === 96)) return []
  const [from, to, amount] = fields.map((word) => BigInt(word))
  if (from === undefined || to === undefined || amount === undefined) return []
  return isAddress(from) && isAddress(to) ? [{ from: toAddress(from), to: toAddress(to), amount }] : []
}

function wrappingIn({ topics, data }: RawLog): Move[] {
  const isIn = topics[0] === '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c'
  const isOut = topics[0] === '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65'
  if ((!isIn && !isOut) || topics.length !== 2 || data.length !== 32) return []
  const [owner, amount] = [topics[1] ?? '', ...hexWords(data)].map((word) => BigInt(word))
  if (owner === undefined || amount === undefined || !isAddress(owner)) return []
  const [from, to] = isIn ? [ZERO, toAddress(owner)] : [toAddress(owner), ZERO]
  return [{ from, to, amount }]
}

function hexWords(data: Uint8Array): string[] {
  return (Buffer.from(data).toString('hex').match(/.{64}/g) ?? []).map((word) => `0x${word}`)
}

function isAddress(word: bigint): boolean {
  return word < 2n ** 160n
}

function toAddress(word: bigint): string {
  return `0x${word.toString(16).padStart(40, '0')}`
}

function holdersIn(pieces: readonly Piece[]): string[] {
  const named = pieces.flatMap((piece) =>
    'older' in piece
      ? piece.older.gains.map(({ holder }) => holder)
      : piece.moves.flatMap(({ from, to }) => [from, to]),
  )
  return [...new Set(named)].filter((holder) => holder !== ZERO)
}

function balanceOf(pieces: readonly Piece[], holder: string): bigint {
  return sum(
    pieces.map((piece) => {
      if ('older' in piece)
        return sum(piece.older.gains.filter((gain) => gain.holder === holder).map((gain) => gain.amountRaw))
      const got = piece.moves.filter(({ to }) => to === holder).map(({ amount }) => amount)
      const gave = piece.moves.filter(({ from }) => from === holder).map(({ amount }) => amount)
      return sum(got) - sum(gave)
    }),
  )
}

function issuedIn(pieces: readonly Piece[]): bigint {
  return sum(
    pieces.map((piece) => {
      if ('older' in piece) return piece.older.issuedRaw
      const made = piece.moves.filter(({ from }) => from === ZERO).map(({ amount }) => amount)
      return sum(made) - burnedIn([piece])
    }),
  )
}

function burnedIn(pieces: readonly Piece[]): bigint {
  return sum(
    pieces.map((piece) => {
      if ('older' in piece) return piece.older.burnedRaw
      return sum(
        piece.moves.filter(({ from, to }) => to === ZERO && from !== ZERO).map(({ amount }) => amount),
      )
    }),
  )
}

function deadIn(pieces: readonly Piece[]): bigint {
  const mintedToZero = pieces.map((piece) => {
    if ('older' in piece) return piece.older.mintedToZeroRaw
    return sum(piece.moves.filter(({ from, to }) => from === ZERO && to === ZERO).map(({ amount }) => amount))
  })
  return sum(mintedToZero) + sum(DEAD.map((holder) => balanceOf(pieces, holder)))
}

/** Nothing goes beyond what any token can have; balances below zero have their older transfers still to come. */
function isPossible(pieces: readonly Piece[], lockers: ReadonlySet<string>): boolean {
  const locked = sum([...lockers].map((locker) => balanceOf(pieces, locker)))
  const balances = holdersIn(pieces).map((holder) => balanceOf(pieces, holder))
  const all = [...balances, issuedIn(pieces), burnedIn(pieces), deadIn(pieces), locked]
  return all.every((amount) => amount <= LARGEST && amount >= -LARGEST)
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((all, amount) => all + amount, 0n)
}
