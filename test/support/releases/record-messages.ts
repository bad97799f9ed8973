import type { Change, ChangeSet } from '../../../src/domain/change.ts'
import type { Envelope } from '../../../src/domain/envelope.ts'
import { formatCursor as formatPageCursor } from '../../../src/gateway/rest/txs/cursor.ts'
import { formatCursor } from '../../../src/gateway/ws/cursor.ts'
import { decodeChangeSet, encodeChangeSet } from '../../../src/wire/change-codec.ts'
import { TYPE } from '../../../src/wire/change-type.ts'
import { decodeEnvelope, encodeEnvelope } from '../../../src/wire/envelope-codec.ts'
import { FIRST_LINK, frameChecksum, splitMessage } from '../../../src/wire/frame.ts'
import { Answers } from '../../bytes/answers.ts'
import { Dice } from '../builders/change-builders.ts'
import {
  buildBlockEnvelope,
  buildFact,
  buildId,
  buildReport,
  FACT_TYPES,
} from '../builders/envelope-builders.ts'
import { storySets } from '../builders/story.ts'
import { EngineRun } from '../rigs/engine-run.ts'
import type { Corpus } from './corpus.ts'
import { engineSettingsOf, type RecordedMarket } from './recorded-markets.ts'

/** Bytes, and what the release reads from them. */
export type RecordedMessage<Value> = { readonly message: Uint8Array; readonly value: Value }
export type RecordedAnswer = { readonly name: string; readonly texts: readonly string[] }
export type RecordedFrames = { readonly frames: readonly Uint8Array[]; readonly messages: number }

const FIRST_ENVELOPES = 120
const FIRST_SETS = 6
const STORY_MESSAGES = 7
const SOME_FRAMES = 40
/** So that some messages need several frames. */
const MAX_FRAME_BYTES = 600
const PER_NAME = 3

/** The sets of a story with every kind of change, of a chain of its own. */
export function storyWithContracts(): ChangeSet[] {
  const dice = new Dice(91)
  const { sets } = storySets({ chain: 'eth', seed: 92, messages: STORY_MESSAGES })
  return sets.map((set, at) => {
    const token = dice.hex(20)
    const others: Change[] = [
      { type: 'contract', contract: buildReport(dice, token) },
      ...(at % 4 === 3 ? ([{ type: 'contractRemoved', token }] as const) : []),
    ]
    return { ...set, changes: [...set.changes, ...others] }
  })
}

export function recordMessages(corpus: Corpus, markets: readonly RecordedMarket[]): void {
  const some = markets.flatMap((market) => market.envelopes.slice(0, FIRST_ENVELOPES))
  const envelopes = [...some, ...factEnvelopes()]
  const blocks = envelopes.map(encodeEnvelope)
  corpus.write(
    'blocks',
    blocks.map((message) => ({ message, value: decodeEnvelope(message) })),
  )
  const frames: Uint8Array[] = []
  for (const message of blocks.slice(0, SOME_FRAMES)) {
    const last = frames.at(-1)
    const link = last === undefined ? FIRST_LINK : frameChecksum(last)
    frames.push(...splitMessage(message, link, MAX_FRAME_BYTES))
  }
  corpus.write('frames', { frames, messages: SOME_FRAMES })

  const sets = [...markets.flatMap(someSets), ...storyWithContracts(), removals()]
  const types = new Set(sets.flatMap(({ changes }) => changes.map(({ type }) => type)))
  const missing = Object.keys(TYPE).filter((type) => !types.has(type as Change['type']))
  if (missing.length > 0) throw new Error(`no recorded set has ${missing.join(', ')}`)
  corpus.write(
    'changes',
    sets.map(encodeChangeSet).map((message) => ({ message, value: decodeChangeSet(message) })),
  )
  corpus.write('answers', answersTo(storyWithContracts()))
  corpus.write('cursors', recordedCursors())
}

function factEnvelopes(): Envelope[] {
  const dice = new Dice(93)
  return FACT_TYPES.flatMap((type) =>
    [1, 2].map(() => buildBlockEnvelope(dice, [buildFact(dice, type), buildFact(dice, type)])),
  )
}

/** The first sets, with much that is new; the later ones are recorded with the state that they follow. */
function someSets({ settings, envelopes }: RecordedMarket): ChangeSet[] {
  const run = new EngineRun(engineSettingsOf(settings))
  return envelopes.slice(0, FIRST_SETS).map((envelope) => run.apply(envelope))
}

function removals(): ChangeSet {
  const dice = new Dice(94)
  const { sets } = storySets({ chain: 'eth', seed: 95, messages: 60 })
  const seen = new Set<string>()
  const changes = sets
    .flatMap((set) => set.changes)
    .filter(({ type }) => {
      const isFirst = type.endsWith('Removed') && !seen.has(type)
      seen.add(type)
      return isFirst
    })
  const others: Change[] = [
    { type: 'pairRemoved', pair: buildId(dice) },
    { type: 'tokenRemoved', token: buildId(dice) },
    { type: 'windowsRemoved', windows: { pair: dice.hex(20), token: undefined } },
    { type: 'switch', switch: { ...switchIn(sets) } },
    { type: 'switchRemoved', switch: { ...switchIn(sets) } },
  ]
  const head = { number: 7, hash: dice.hex(32), time: 1_761_950_000, startTime: 1_761_900_000 }
  return { chain: 'eth', seq: 1, cause: 'undo', head, finalNumber: 3, changes: [...changes, ...others] }
}

function switchIn(sets: readonly ChangeSet[]) {
  const found = sets.flatMap(({ changes }) => changes).find((change) => change.type === 'switch')
  if (found?.type !== 'switch') throw new Error('no switch in the story')
  return found.switch
}

/** The first answers of each name, as text. */
export function answersTo(sets: readonly ChangeSet[]): RecordedAnswer[] {
  const counts = new Map<string, number>()
  const recorded: RecordedAnswer[] = []
  const answers = new Answers((name, ...parts) => {
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    if (count <= PER_NAME) recorded.push({ name, texts: parts.map(textOf) })
  })
  for (const { changes, seq, head } of sets) for (const change of changes) answers.add(change, seq, head)
  return recorded
}

/** A frame without its header. */
function textOf(part: Uint8Array | string): string {
  if (typeof part === 'string') return part
  return Buffer.from(part.subarray(part.indexOf(0x7b))).toString()
}

function recordedCursors() {
  const after = { epoch: 'e', sequence: 12, link: 34 }
  const place = { after, seq: 5, time: 1_700_000_000, published: 3 }
  const last = { upTo: 9, time: 1_700_000_001, key: { block: 20, tx: 3, log: 4 } }
  const socket = [
    [['eth', place]],
    [
      ['eth', { ...place, published: 0, last }],
      ['solana', place],
    ],
  ] as const
  const page = { time: 1_700_000_000, key: { block: 20, tx: 3, log: 4 } }
  return {
    socket: socket.map((places) => ({ cursor: formatCursor(new Map(places)), places })),
    page: [{ cursor: formatPageCursor(page), place: page }],
  }
}
