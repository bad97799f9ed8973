import type { RawLog, RawTransaction } from '../../domain/envelope.ts'
import { ZERO_ADDRESS } from '../../domain/known-addresses.ts'
import type { MoveSums } from '../move-sums.ts'
import { addressAt, topicAddress, uintAt } from './abi.ts'

/** A movement of tokens between two addresses. From the zero address it is a mint, to the zero address a burn. */
export type TokenMove = {
  readonly token: string
  readonly from: string
  readonly to: string
  readonly amount: bigint
}

export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const DEPOSIT = '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c'
const WITHDRAWAL = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65'
const WORD = 32

/** Topics that signal a balance change. Wrapped native coins are minted and burned by events of their own. */
export function moveTopics(isWrappedNative: boolean): readonly string[] {
  return isWrappedNative ? [TRANSFER, DEPOSIT, WITHDRAWAL] : [TRANSFER]
}

/** True if the log may change balances of its emitter. */
export function isMove(log: RawLog, isWrappedNative: boolean): boolean {
  const topic = log.topics[0]
  return topic === TRANSFER || (isWrappedNative && (topic === DEPOSIT || topic === WITHDRAWAL))
}

/** The moves of all tokens in a transaction, in order. */
export function movesOf(
  { logs }: Pick<RawTransaction, 'logs'>,
  isWrappedNative: (token: string) => boolean,
): TokenMove[] {
  const moves: TokenMove[] = []
  for (const log of logs) {
    const topic = log.topics[0]
    if (topic === TRANSFER) {
      const move = transfer(log)
      if (move !== undefined) moves.push(move)
    } else if ((topic === DEPOSIT || topic === WITHDRAWAL) && isWrappedNative(log.address)) {
      const move = wrapping(log, topic === DEPOSIT)
      if (move !== undefined) moves.push(move)
    }
  }
  return moves.some(isWrapping) ? withoutRepeats(moves) : moves
}

type Wrapping = TokenMove & { readonly isWrapping: true }

function isWrapping(move: TokenMove): move is Wrapping {
  return 'isWrapping' in move
}

/** Bridged wrapped coins emit a transfer with each deposit, so equal moves count once. */
function withoutRepeats(moves: readonly TokenMove[]): TokenMove[] {
  const idOf = ({ token, from, to, amount }: TokenMove): string => `${token}${from}${to}${amount}`
  const transfers = new Set(moves.filter((move) => !isWrapping(move)).map(idOf))
  return moves.flatMap((move) => {
    if (!isWrapping(move)) return [move]
    if (transfers.has(idOf(move))) return []
    const { isWrapping: _, ...plain } = move
    return [plain]
  })
}

/** With both addresses indexed, as in ERC-20, or with none indexed; a third indexed parameter means an NFT. */
function transfer({ address: token, topics, data }: RawLog): TokenMove | undefined {
  const isIndexed = topics.length === 3 && data.length === WORD
  if (!isIndexed && !(topics.length === 1 && data.length === 3 * WORD)) return undefined
  const from = isIndexed ? topicAddress(topics[1]) : addressAt(data, 0)
  const to = isIndexed ? topicAddress(topics[2]) : addressAt(data, 1)
  const amount = uintAt(data, isIndexed ? 0 : 2)
  return from === undefined || to === undefined || amount === undefined
    ? undefined
    : { token, from, to, amount }
}

function wrapping({ address: token, topics, data }: RawLog, isIn: boolean): Wrapping | undefined {
  if (topics.length !== 2 || data.length !== WORD) return undefined
  const owner = topicAddress(topics[1])
  const amount = uintAt(data, 0)
  if (owner === undefined || amount === undefined) return undefined
  const [from, to] = isIn ? [ZERO_ADDRESS, owner] : [owner, ZERO_ADDRESS]
  return { token, from, to, amount, isWrapping: true }
}

export function addMove(sums: MoveSums, { from, to, amount }: TokenMove): void {
  const isMade = from === ZERO_ADDRESS
  const isGone = to === ZERO_ADDRESS
  if (isMade) sums.issuedRaw += amount
  else sums.gains.set(from, (sums.gains.get(from) ?? 0n) - amount)
  if (isMade && isGone) sums.mintedToZeroRaw += amount
  else if (isGone) {
    sums.issuedRaw -= amount
    sums.burnedRaw += amount
  } else sums.gains.set(to, (sums.gains.get(to) ?? 0n) + amount)
}
