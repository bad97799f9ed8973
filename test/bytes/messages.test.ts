import { test } from 'node:test'
import type { Change } from '../../src/domain/change.ts'
import { encodeAccountsAnswer, encodeAccountsQuestion } from '../../src/wire/account-question.ts'
import { encodeChangeSet } from '../../src/wire/change-codec.ts'
import { encodeEnvelope } from '../../src/wire/envelope-codec.ts'
import { FIRST_LINK, splitMessage } from '../../src/wire/frame.ts'
import { Dice } from '../support/builders/change-builders.ts'
import {
  buildBlockEnvelope,
  buildBlockRef,
  buildFact,
  buildId,
  buildReport,
  FACT_TYPES,
} from '../support/builders/envelope-builders.ts'
import { storySets } from '../support/builders/story.ts'
import { assertExpected } from '../support/recorded/expected-lines.ts'
import { ByteHashes } from './byte-hashes.ts'

test('BLOCKS messages have the recorded bytes', () => {
  const dice = new Dice(11)
  /** For facts that came later, so that the lines of the others stay. */
  const later = { poolState: new Dice(16), launch: new Dice(19) }
  const hashes = new ByteHashes()
  for (let round = 0; round < 60; round++) {
    hashes.add('block', encodeEnvelope(buildBlockEnvelope(dice, [])))
    hashes.add('undo', encodeEnvelope({ kind: 'undo', chain: 'eth', lastValid: buildBlockRef(dice) }))
    hashes.add('final', encodeEnvelope({ kind: 'final', chain: 'eth', upTo: buildBlockRef(dice) }))
    for (const type of FACT_TYPES) {
      const own = type === 'poolState' || type === 'launch' ? later[type] : dice
      const block = buildBlockEnvelope(own, [buildFact(own, type), buildFact(own, type)])
      hashes.add(`block with ${type} facts`, encodeEnvelope({ ...block, transactions: [] }))
    }
  }
  assertExpected('bytes-blocks.csv', hashes.lines(), 'npm test -- bytes')
})

test('CHANGES messages have the recorded bytes, by type of change', () => {
  const { sets } = storySets({ chain: 'eth', seed: 12, messages: 200, tradesPerBlock: 6 })
  const dice = new Dice(13)
  const hashes = new ByteHashes()
  const startTimes = [undefined, 1_600_000_000]
  for (const set of sets) {
    const startTime = dice.pick(startTimes)
    const head = startTime === undefined ? set.head : { ...set.head, startTime }
    hashes.add(`whole set of ${set.cause}`, encodeChangeSet({ ...set, head }))
    const token = dice.hex(20)
    const others: Change[] = [
      { type: 'contract', contract: buildReport(dice, token) },
      { type: 'contractRemoved', token },
      { type: 'pairRemoved', pair: buildId(dice) },
      { type: 'tokenRemoved', token: buildId(dice) },
      { type: 'windowsRemoved', windows: { pair: dice.maybe(token), token: dice.maybe(buildId(dice)) } },
    ]
    for (const change of [...set.changes, ...others])
      hashes.add(change.type, encodeChangeSet({ ...set, changes: [change] }))
  }
  assertExpected('bytes-changes.csv', hashes.lines(), 'npm test -- bytes')
})

/** Compressed frames are left out: their bytes follow from the zstd that Node.js has, and any zstd reads them. */
test('frames and requests for accounts have the recorded bytes', () => {
  const dice = new Dice(14)
  const hashes = new ByteHashes()
  for (let round = 0; round < 60; round++) {
    const message = Buffer.from(dice.hex(dice.below(1_000)).slice(2), 'hex')
    const link = round === 0 ? FIRST_LINK : dice.below(2 ** 32)
    for (const frame of splitMessage(message, link, dice.pick([200, 10_000]))) hashes.add('frame', frame)
    const addresses = Array.from({ length: dice.below(5) }, () => dice.hex(20))
    hashes.add('question about accounts', encodeAccountsQuestion(addresses))
    const answer = addresses.map(() => ({
      balanceRaw: dice.big(2n ** 200n),
      isContract: dice.below(2) === 0,
    }))
    hashes.add('answer about accounts', encodeAccountsAnswer(answer))
  }
  assertExpected('bytes-frames.csv', hashes.lines(), 'npm test -- bytes')
})
