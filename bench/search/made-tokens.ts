import type { Change, ChangeSet, Token } from '../../src/domain/change.ts'
import { pow10, VALUE_DIGITS } from '../../src/domain/money.ts'
import { makeSet } from '../stores/made-changes.ts'

/** What is copied again and again. */
const FAMOUS = [
  ...[
    'PEPE',
    'DOGE',
    'SHIB',
    'TRUMP',
    'ELON',
    'USDT',
    'USDC',
    'FLOKI',
    'INU',
    'MOON',
    'AI',
    'BABY',
    'CAT',
    'WOJAK',
  ],
  ...[
    'GROK',
    'BONK',
    'MEME',
    'TURBO',
    'MAGA',
    'BRETT',
    'APE',
    'GME',
    'SOL',
    'BTC',
    'ETH',
    'UNI',
    'LINK',
    'MOG',
  ],
]
const SYLLABLES = [
  ...[
    'pe',
    'sha',
    'do',
    'mo',
    'ba',
    'ka',
    'lo',
    'tri',
    'zen',
    'ape',
    'ti',
    'gro',
    'fi',
    'no',
    'us',
    'sat',
    'be',
    'co',
  ],
  ...[
    'ra',
    'me',
    'chi',
    'wen',
    'lu',
    'vi',
    'x',
    'dao',
    'bit',
    'sol',
    'pu',
    'ni',
    'go',
    'ha',
    'el',
    'an',
    'or',
    'qu',
  ],
]
const WORDS = [
  'Token',
  'Inu',
  'Coin',
  'Finance',
  'Protocol',
  'AI',
  'the Cat',
  '2.0',
  'Swap',
  'DAO',
  'on Base',
  'Classic',
]
const FIRST_TIME = 1_750_000_000

/** Repeatable chance, different for each question about each number: a step of splitmix32. */
function chance(number: number, question: number): number {
  let t = (Math.imul(number + 1, 0x9e3779b9) ^ Math.imul(question + 1, 0x85ebca6b)) >>> 0
  t = Math.imul(t ^ (t >>> 16), 0x21f0aaad)
  t = Math.imul(t ^ (t >>> 15), 0x735a2d97)
  return ((t ^ (t >>> 15)) >>> 0) / 2 ** 32
}

const pick = (words: readonly string[], share: number): string =>
  words[Math.floor(share * words.length)] as string

/** One in six copies a famous one, those further ahead more often; the others take one of some 50,000 words, also skewed. */
function symbolOf(index: number): string {
  if (chance(index, 0) < 1 / 6) return pick(FAMOUS, chance(index, 1) ** 3)
  const word = Math.floor(chance(index, 1) ** 2 * 50_000)
  const syllables = Array.from({ length: 2 + (word % 3) }, (_, at) => pick(SYLLABLES, chance(word, 10 + at)))
  return syllables.join('').toUpperCase()
}

function nameOf(index: number, symbol: string): string {
  const proper = symbol.slice(0, 1) + symbol.slice(1).toLowerCase()
  return chance(index, 2) < 0.3 ? proper : `${proper} ${pick(WORDS, chance(index, 3))}`
}

/** Seven of ten have nothing left in their pairs; of the others few have much. */
function tvlOf(index: number, version: number): bigint | undefined {
  if (chance(index, 4) < 0.7) return undefined
  const dollars = Math.floor(10 ** (9 * chance(index, 5) ** 4)) + version
  return BigInt(dollars) * pow10(VALUE_DIGITS)
}

const template = makeSet(1, 1)
const [tokenTemplate] = template.changes.flatMap((change) => (change.type === 'token' ? [change.token] : []))
const [windowsTemplate] = template.changes.flatMap((change) =>
  change.type === 'windows' ? [change.windows] : [],
)

/** A token and what was traded of it. */
export function makeSearched(
  index: number,
  version: number,
): { readonly token: Change; readonly windows: Change } {
  if (tokenTemplate === undefined || windowsTemplate === undefined) throw new Error('a made set has no token')
  const symbol = symbolOf(index)
  const address = addressOf(index)
  const mainPairTvlUsd = tvlOf(index, version)
  const token: Token = { ...tokenTemplate, address, symbol, name: nameOf(index, symbol), mainPairTvlUsd }
  const factor = BigInt(Math.floor(chance(index, 6) * 10 ** 6))
  const lengths = windowsTemplate.lengths.map((sums) => ({ ...sums, buyUsd: (sums.buyUsd ?? 0n) * factor }))
  const windows = { ...windowsTemplate, pair: undefined, token: address, lengths }
  return { token: { type: 'token', token }, windows: { type: 'windows', windows } }
}

export function addressOf(index: number): string {
  const parts = [7, 8, 9, 10, 11].map((question) => Math.floor(chance(index, question) * 2 ** 32))
  return `0x${parts.map((part) => part.toString(16).padStart(8, '0')).join('')}`
}

export function setOf(seq: number, changes: readonly Change[]): ChangeSet {
  const head = { number: seq, hash: '0x01', time: FIRST_TIME + seq }
  return { chain: 'eth', seq, cause: 'block', head, finalNumber: 0, changes }
}
