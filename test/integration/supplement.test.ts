import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { BlockEnvelope } from '../../src/domain/envelope.ts'
import type { Generation } from '../../src/domain/generation.ts'
import { withSupplement } from '../../src/roles/read-generation.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import {
  type ArchivedMessage,
  type BlockArchive,
  openBlockArchive,
} from '../../src/store/clickhouse/block-archive.ts'
import { type HistoryStore, openHistoryStore } from '../../src/store/clickhouse/history-store.ts'
import { migrate } from '../../src/store/clickhouse/migrate.ts'
import { decodeEnvelope, encodeEnvelope } from '../../src/wire/envelope-codec.ts'
import { hasCode } from '../support/rigs/log-reading.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'

const CHAIN = 'eth'
const EPOCH = 'e'
const common = createTestCommon()
let stack: Stack
let archive: BlockArchive
let history: HistoryStore

before(async () => {
  stack = await startStack({ services: ['clickhouse'] })
  const options = { url: stack.clickhouseUrl, database: 'supplement', username: 'default', password: '' }
  await migrate(options, common)
  archive = openBlockArchive(options)
  history = openHistoryStore(options, common)
  // Block 4 was undone, and read again.
  await write(
    CHAIN,
    [1, 2, 3, 4, 4, 5].map((number, index) => message(number, index + 1, index, 0, index === 3)),
  )
  await write('eth@2#1', [message(2, 2, 0, 1), message(4, 5, 2, 1), message(5, 6, 5, 1)])
})

after(async () => {
  await Promise.all([archive?.close(), history?.close()])
  await stack?.stop()
})

function message(
  number: number,
  sequence: number,
  previousSequence: number,
  index: number,
  isOrphan = false,
) {
  const hash = `0x${isOrphan ? 'ff' : '00'}0${number}`
  const logs = [{ index, address: '0xaa', topics: [], data: new Uint8Array() }]
  const transactions = [{ index: 0, hash: '0x01', from: '0x02', logs }]
  const place = { chain: CHAIN, number, hash, parentHash: '0x00', time: number }
  const block: BlockEnvelope = { kind: 'block', ...place, transactions, facts: [] }
  const position = { epoch: EPOCH, sequence, link: 0 }
  return {
    kind: 'block',
    number,
    hash,
    time: number,
    body: encodeEnvelope(block),
    position,
    previousSequence,
  } as const
}

async function write(name: string, messages: readonly ArchivedMessage[]): Promise<void> {
  await archive.write(name, messages)
  await archive.commit(name, (messages.at(-1) as ArchivedMessage).position)
}

/** The log indexes of each block that a generation folds, after a sequence. */
async function folded(generation: Generation, after = 0): Promise<string[]> {
  const parts = { chain: CHAIN, generation, epoch: EPOCH, archive }
  const position = { epoch: EPOCH, sequence: after, link: 0 }
  const found: string[] = []
  for await (const { body } of withSupplement(parts, position, archive.read(CHAIN, EPOCH, after))) {
    const block = decodeEnvelope(body)
    assert.ok(block.kind === 'block')
    const logs = block.transactions.flatMap((transaction) => transaction.logs.map(({ index }) => index))
    found.push(`${block.number}: ${logs.join(' ')}`)
  }
  return found
}

const supplemented = (until: number, attempt = 1): Generation => ({
  number: 2,
  supplement: { attempt, until },
})

test('blocks are found by number, those that were undone left out', async () => {
  const found = await archive.blocksOf(CHAIN, EPOCH, [2, 4, 9], 0)
  assert.deepEqual(
    [...found.values()].sort((one, other) => one.number - other.number),
    [
      { number: 2, sequence: 2, hash: '0x0002' },
      { number: 4, sequence: 5, hash: '0x0004' },
    ],
  )
})

test('a supplement is merged into its blocks, from any place on', async () => {
  const all = ['1: 0', '2: 0 1', '3: 0', '4: 0', '4: 0 1', '5: 0 1']
  assert.deepEqual(await folded(supplemented(6)), all)
  for (const after of [1, 2, 3, 4, 5])
    assert.deepEqual(await folded(supplemented(6), after), all.slice(after))
  assert.deepEqual(await folded({ number: 2 }, 4), ['4: 0', '5: 0'])
})

test('a supplement that is incomplete or of another block stops the fold', async () => {
  await assert.rejects(folded(supplemented(7)), hasCode('log_damaged'))
  await assert.rejects(folded(supplemented(6, 2)), hasCode('log_damaged'))
  await write('eth@2#3', [message(4, 4, 0, 1)])
  await assert.rejects(folded(supplemented(4, 3)), hasCode('log_damaged'))
  await assert.rejects(folded({ number: 2, supplement: { attempt: 1 } }), /incomplete/)
})

test('a generation is removed with its supplements, and without the archive', async () => {
  await write('eth@20#1', [message(2, 2, 0, 1)])
  await history.remove('eth@2')
  for (const attempt of [1, 3]) {
    assert.equal(await archive.end(`eth@2#${attempt}`, EPOCH), undefined)
    assert.equal(await archive.lastSequence(`eth@2#${attempt}`, EPOCH, 100), 0)
  }
  assert.equal(await archive.lastSequence('eth@20#1', EPOCH, 100), 2)
  // The first generation has the name of the chain.
  await history.remove(CHAIN)
  assert.equal((await folded({ number: 1 })).length, 6)
})
