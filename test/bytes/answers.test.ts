import { test } from 'node:test'
import { Dice } from '../support/builders/change-builders.ts'
import { buildReport } from '../support/builders/envelope-builders.ts'
import { storySets } from '../support/builders/story.ts'
import { assertExpected } from '../support/recorded/expected-lines.ts'
import { Answers } from './answers.ts'
import { ByteHashes } from './byte-hashes.ts'

/** Compressed pushes are left out: their bytes follow from the zlib that Node.js has. */
test('pushes and bodies of answers have the recorded bytes', () => {
  const { sets } = storySets({ chain: 'eth', seed: 17, messages: 40 })
  const dice = new Dice(18)
  const hashes = new ByteHashes()
  const answers = new Answers((name, ...parts) => hashes.add(name, ...parts))
  for (const { changes, seq, head } of sets) {
    const times = dice.below(2) === 0 ? head : { ...head, startTime: head.time - 100_000 }
    for (const change of changes) answers.add(change, seq, times)
    answers.add({ type: 'contract', contract: buildReport(dice) }, seq, times)
  }
  assertExpected('bytes-answers.csv', hashes.lines(), 'npm test -- bytes')
})
