import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ChangeSet } from '../../src/domain/change.ts'
import type { Envelope } from '../../src/domain/envelope.ts'
import { parseCursor as parsePageCursor } from '../../src/gateway/rest/txs/cursor.ts'
import { parseCursor } from '../../src/gateway/ws/cursor.ts'
import { VERSION } from '../../src/lib/version.ts'
import { decodeChangeSet, encodeChangeSet, openChangeSet } from '../../src/wire/change-codec.ts'
import { indexChangeSet } from '../../src/wire/change-index.ts'
import { decodeEnvelope, decodeEnvelopeHead, openEnvelope } from '../../src/wire/envelope-codec.ts'
import { FIRST_LINK, MessageAssembler } from '../../src/wire/frame.ts'
import { Corpus, firstDifference, plainOf } from '../support/releases/corpus.ts'
import {
  answersTo,
  type RecordedAnswer,
  type RecordedFrames,
  type RecordedMessage,
} from '../support/releases/record-messages.ts'

test('this version, or the one before it, is recorded', () => {
  assert.ok(Corpus.versions().length > 0)
  assert.ok(Corpus.versions().includes(VERSION) || !VERSION.endsWith('.0'), `npm run record:release`)
})

for (const version of Corpus.versions()) {
  const corpus = new Corpus(version)

  describe(`release ${version}`, () => {
    test('every BLOCKS message decodes to the recorded values', () => {
      const recorded = corpus.read<RecordedMessage<Envelope>[]>('blocks')
      const values = corpus.readPlain('blocks') as { value: unknown }[]
      const kinds = new Set<string>()
      for (const [at, { message }] of recorded.entries()) {
        const decoded = decodeEnvelope(message)
        assert.deepEqual(plainOf(decoded), values[at]?.value)
        const { kind } = decodeEnvelopeHead(message)
        assert.equal(kind, decoded.kind)
        assert.equal(openEnvelope(message).kind, kind)
        kinds.add(`${kind} of ${decoded.chain}`)
      }
      assert.ok(kinds.size >= 6, [...kinds].join())
    })

    test('frames join to the recorded messages', () => {
      const { frames, messages } = corpus.read<RecordedFrames>('frames')
      const assembler = new MessageAssembler(FIRST_LINK)
      const joined = frames.flatMap((frame) => assembler.push(frame) ?? [])
      const blocks = corpus.read<RecordedMessage<Envelope>[]>('blocks')
      assert.equal(joined.length, messages)
      for (const [at, message] of joined.entries())
        assert.equal(Buffer.compare(message, blocks[at]?.message ?? Buffer.alloc(0)), 0)
    })

    test('every CHANGES message decodes to the recorded values, also lazily and for the stores', () => {
      const recorded = corpus.read<RecordedMessage<ChangeSet>[]>('changes')
      const values = corpus.readPlain('changes') as { value: unknown }[]
      for (const [at, { message }] of recorded.entries()) {
        assert.deepEqual(plainOf(decodeChangeSet(message)), values[at]?.value)
        const set = decodeChangeSet(message)
        assert.deepEqual(encodeChangeSet(openChangeSet(message).set), encodeChangeSet(set))
        assert.equal(indexChangeSet(message).seq, set.seq)
      }
    })

    test('answers and pushes have every recorded field, with the same value', () => {
      const recorded = corpus.read<RecordedAnswer[]>('answers')
      const story = corpus
        .read<RecordedMessage<ChangeSet>[]>('changes')
        .map(({ message }) => decodeChangeSet(message))
        .filter(({ chain, cause, seq }) => chain === 'eth' && !(cause === 'undo' && seq === 1))
      const today = answersTo(story)
      assert.ok(recorded.length > 30)
      assert.equal(today.length, recorded.length)
      for (const [at, { name, texts }] of recorded.entries()) {
        assert.equal(today[at]?.name, name)
        for (const [nth, text] of texts.entries()) {
          const difference = firstDifference(JSON.parse(text), JSON.parse(today[at]?.texts[nth] ?? 'null'))
          assert.equal(difference, undefined, name)
        }
      }
    })

    test('cursors of clients are read', () => {
      const { socket, page } = corpus.read<{
        socket: { cursor: string; places: [string, object][] }[]
        page: { cursor: string; place: object }[]
      }>('cursors')
      for (const { cursor, places } of socket)
        assert.deepEqual(plainOf(parseCursor(cursor)), plainOf(new Map(places)))
      for (const { cursor, place } of page) assert.deepEqual(parsePageCursor(cursor), place)
    })
  })
}
