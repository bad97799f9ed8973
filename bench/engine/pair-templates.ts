import assert from 'node:assert/strict'
import { SUBJECT } from '../../src/engine/window/subject-row.ts'
import { Key, type KeyPart } from '../../src/state/key.ts'
import { GROUP as WORDS_PER_MASK } from '../../src/state/packed-words.ts'
import { encodeStateKey } from '../../src/state/state-key.ts'
import type { StateStore } from '../../src/store/lmdb/state-store.ts'
import { PAIRS_PER_GROUP, pairOfAddress, spreadOf } from './made-market.ts'

export type Write = readonly [key: Uint8Array, value: Uint8Array]

/** Four bytes that differ between an entry and its copies. `of` counts from the first pair or subject of the group. */
type Patch = {
  readonly at: number
  readonly kind: 'spread' | 'pair' | 'subject' | 'subject in a key'
  readonly of: number
}

/** An entry of the state: its key, followed by its value. */
type Template = { readonly bytes: Buffer; readonly keySize: number; readonly patches: readonly Patch[] }

/** The entries of consecutive pairs that share their tokens with no other pairs. */
export class GroupTemplate {
  /** Entries with an address in their key: by the key's bytes before the address, then by pair. */
  readonly addressed = new Map<string, Template[][]>()
  /** The windows of each subject. */
  readonly windows: Template[] = []
  readonly subjects: number[] = []
}

/** The key parts of tables whose keys begin with a number. */
const NUMBERED: Readonly<Record<string, readonly KeyPart[]>> = { subject: ['u32', 'id'], windows: ['u32'] }
/** Fields with the number of another subject. */
const SUBJECT_FIELDS = SUBJECT.placed.filter(({ name }) => name === 'ownOfToken' || name === 'partedFrom')
const WORD_BYTES = 4
/** From an address's spread to its last word, in a row that omits words of zeros: at most a mask and the whole address. */
const MAX_ADDRESS_BYTES = 24

/** All groups but the first, which has the pairs of two quote assets. */
export function readTemplates(store: StateStore, pairs: number): GroupTemplate[] {
  const groups = Array.from({ length: pairs / PAIRS_PER_GROUP - 1 }, () => new GroupTemplate())
  const groupOfSubject = new Map<number, number>()
  const entries = [...store.entries()].map(([text, value]) => ({ parts: text.split('/'), value, text }))
  for (const { parts, value } of entries) {
    const at = groupOf(pairOfAddress(parts[2] ?? '') ?? 0)
    if (parts[0] !== 'subject' || at < 0) continue
    const subject = Buffer.from(value).readUInt32LE(WORD_BYTES)
    if (!groupOfSubject.has(subject)) groups[at]?.subjects.push(subject)
    groupOfSubject.set(subject, at)
  }
  for (const { parts, value, text } of entries) {
    const pair = pairOfAddress(parts.at(-1) ?? '')
    const at = (parts[0] === 'windows' ? groupOfSubject.get(Number(parts[1])) : groupOf(pair ?? 0)) ?? -1
    const group = groups[at]
    if (group === undefined) continue
    const template = templateOf(text, value, (at + 1) * PAIRS_PER_GROUP, group.subjects)
    if (pair === undefined) group.windows[group.subjects.indexOf(Number(parts[1]))] = template
    else insert(group, template, pair % PAIRS_PER_GROUP)
  }
  return groups
}

/** The same entry of another group, which begins with these. */
export function copyOf(
  { bytes, keySize, patches }: Template,
  firstPair: number,
  firstSubject: number,
): Write {
  const copy = Buffer.from(bytes)
  for (const { at, kind, of } of patches) {
    if (kind === 'spread') copy.writeUInt32BE(spreadOf(firstPair + of), at)
    else if (kind === 'pair') copy.writeUInt32BE(firstPair + of, at)
    else if (kind === 'subject') copy.writeUInt32LE(firstSubject + of, at)
    else copy.writeUInt32BE(firstSubject + of, at)
  }
  return [copy.subarray(0, keySize), copy.subarray(keySize)]
}

/** Negative for the first group. */
function groupOf(pair: number): number {
  return Math.floor(pair / PAIRS_PER_GROUP) - 1
}

function insert({ addressed }: GroupTemplate, template: Template, of: number): void {
  const addressAt = template.patches[0]?.at
  const prefix = template.bytes.toString('hex', 0, addressAt)
  const byPair = addressed.get(prefix) ?? Array.from({ length: PAIRS_PER_GROUP }, () => [])
  addressed.set(prefix, byPair)
  byPair[of]?.push(template)
  byPair[of]?.sort((a, b) => Buffer.compare(a.bytes, b.bytes))
}

function templateOf(
  text: string,
  value: Uint8Array,
  firstPair: number,
  subjects: readonly number[],
): Template {
  const [table = '', number] = text.split('/')
  const key = storeKeyOf(text)
  const bytes = Buffer.concat([key, value])
  const patches = addressPatches(bytes, firstPair)
  const subjectPatch = (subject: number, at: number, kind: Patch['kind'] = 'subject') => {
    const of = subjects.indexOf(subject)
    assert.ok(of >= 0, `${text} names subject ${subject} of other pairs`)
    patches.push({ at, kind, of })
  }
  if (table === 'subject') subjectPatch(bytes.readUInt32LE(key.length + WORD_BYTES), key.length + WORD_BYTES)
  if (table === 'windows') {
    subjectPatch(Number(number), 1, 'subject in a key')
    for (const field of SUBJECT_FIELDS) {
      const at = packedPlace(bytes, key.length, field.at)
      if (at !== undefined) subjectPatch(bytes.readUInt32LE(at), at)
    }
  }
  return { bytes, keySize: key.length, patches }
}

function storeKeyOf(text: string): Buffer {
  const [table = '', ...parts] = text.split('/')
  const kinds = NUMBERED[table]
  if (kinds === undefined) return Buffer.from(encodeStateKey(text))
  const key = new Key()
  for (const [at, part] of parts.entries()) {
    if (kinds[at] === 'u32') key.u32(Number(part))
    else key.id(part)
  }
  return Buffer.from(key.storeKey(table, kinds))
}

/** Where the spread and the number of each address of the group stand, in the order of their places. */
function addressPatches(bytes: Buffer, firstPair: number): Patch[] {
  const patches: Patch[] = []
  for (let of = 0; of < PAIRS_PER_GROUP; of++) {
    const spread = wordOf(spreadOf(firstPair + of))
    const pair = wordOf(firstPair + of)
    for (let at = bytes.indexOf(spread); at >= 0; at = bytes.indexOf(spread, at + WORD_BYTES)) {
      const pairAt = bytes.indexOf(pair, at + WORD_BYTES)
      assert.ok(pairAt >= 0 && pairAt - at < MAX_ADDRESS_BYTES, `pair ${firstPair + of}: address cut in two`)
      patches.push({ at, kind: 'spread', of }, { at: pairAt, kind: 'pair', of })
    }
  }
  return patches.sort((a, b) => a.at - b.at)
}

function wordOf(value: number): Buffer {
  const word = Buffer.alloc(WORD_BYTES)
  word.writeUInt32BE(value)
  return word
}

/** Where a word of a packed row stands; undefined if it is zero. */
function packedPlace(bytes: Buffer, rowAt: number, word: number): number | undefined {
  let at = rowAt
  for (let group = 0; ; group += WORDS_PER_MASK) {
    const mask = bytes.readUInt32LE(at)
    at += WORD_BYTES
    const within = word - group
    const below = within < WORDS_PER_MASK ? mask & (2 ** within - 1) : mask
    at += WORD_BYTES * bitsIn(below)
    if (within < WORDS_PER_MASK) return (mask & (1 << within)) === 0 ? undefined : at
  }
}

function bitsIn(mask: number): number {
  let count = 0
  for (let left = mask; left !== 0; left &= left - 1) count++
  return count
}
