import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { ChaintapeError } from '../../domain/errors.ts'
import { type ChainGenerations, FIRST_GENERATIONS } from '../../domain/generation.ts'
import { awaitGenerations } from './await-generations.ts'

const logger = pino({ enabled: false })
const history = { generations: async () => undefined }

function partsOf(stored: () => Promise<ChainGenerations | undefined>, reported: string[]) {
  const waiting = {
    failed: (error: unknown) => void reported.push((error as Error).message),
    succeeded: () => void reported.push('available'),
  }
  const generations = { of: () => FIRST_GENERATIONS, stored }
  return { generations, history, waiting, logger, signal: new AbortController().signal }
}

test('it waits for NATS, which may be between two leaders', async () => {
  const reported: string[] = []
  const answers = [new ChaintapeError('store_unavailable', 'no leader'), FIRST_GENERATIONS]
  const stored = async (): Promise<ChainGenerations> => {
    const answer = answers.shift()
    if (answer instanceof Error || answer === undefined) throw answer
    return answer
  }
  await awaitGenerations(['eth'], partsOf(stored, reported))
  assert.deepEqual(reported, ['no leader', 'available'])
})

test('an entry that cannot be read ends it', async () => {
  const reported: string[] = []
  const stored = async (): Promise<undefined> => {
    throw new ChaintapeError('log_damaged', 'unreadable')
  }
  await assert.rejects(awaitGenerations(['eth'], partsOf(stored, reported)), { code: 'log_damaged' })
  assert.deepEqual(reported, [])
})
