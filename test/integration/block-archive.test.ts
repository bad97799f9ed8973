import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type ClickHouseClient, createClient } from '@clickhouse/client'
import type { Envelope } from '../../src/domain/envelope.ts'
import type { LogPosition } from '../../src/domain/log-position.ts'
import type { ChainLog, LogMessage } from '../../src/log/chain-log.ts'
import { connectLogs, type Logs } from '../../src/log/connect.ts'
import { replayBlocks } from '../../src/roles/replay-blocks.ts'
import { BlockArchiver } from '../../src/roles/writer/block-archiver.ts'
import { trimLog } from '../../src/roles/writer/trim-log.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { type BlockArchive, openBlockArchive } from '../../src/store/clickhouse/block-archive.ts'
import { migrate } from '../../src/store/clickhouse/migrate.ts'
import { encodeEnvelope } from '../../src/wire/envelope-codec.ts'
import { hasCode, readAll } from '../support/rigs/log-reading.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'
import { waitFor } from '../support/rigs/wait-for.ts'

const DATABASE = 'archive'
const common = createTestCommon()
let stack: Stack
let logs: Logs
let archive: BlockArchive
let client: ClickHouseClient
let chains = 0

before(async () => {
  stack = await startStack({ services: ['nats', 'clickhouse'] })
  const clickhouse = { url: stack.clickhouseUrl, database: DATABASE, username: 'default', password: '' }
  await migrate(clickhouse, common)
  archive = openBlockArchive(clickhouse)
  client = createClient({ url: stack.clickhouseUrl, database: DATABASE })
  // Small frames, so that some blocks are split.
  logs = await connectLogs(
    { urls: stack.natsUrls, prefix: 'archive', replicas: 1, max_frame_bytes: 1_024 },
    common,
  )
})

after(async () => {
  await logs?.close()
  await archive?.close()
  await client?.close()
  await stack?.stop()
})

type World = {
  readonly chain: string
  readonly log: ChainLog
  append(...envelopes: Envelope[]): Promise<void>
}

async function newWorld(): Promise<World> {
  const chain = `chain${chains++}`
  const log = await logs.open('BLOCKS', chain)
  const publisher = await log.openPublisher()
  return {
    chain,
    log,
    append: async (...envelopes) => {
      for (const envelope of envelopes) await publisher.publish(encodeEnvelope(envelope))
    },
  }
}

function block(chain: string, number: number, branch = 'a'): Envelope {
  const logs = Array.from({ length: number % 4 }, (_, index) => ({
    index,
    address: '0xaa',
    topics: ['0x01'],
    // Random, so that compression does not make one frame of it.
    data: crypto.getRandomValues(new Uint8Array(700)),
  }))
  const transactions = logs.length === 0 ? [] : [{ index: 0, hash: '0x01', from: '0x02', logs }]
  const [hash, parentHash] = [`${branch}${number}`, `${branch}${number - 1}`]
  return { kind: 'block', chain, number, hash, parentHash, time: 1_000 + number, transactions, facts: [] }
}

function blocks(chain: string, from: number, to: number, branch?: string): Envelope[] {
  return Array.from({ length: to - from + 1 }, (_, index) => block(chain, from + index, branch))
}

const final = (chain: string, number: number): Envelope => ({
  kind: 'final',
  chain,
  upTo: { number, hash: `a${number}` },
})

/** Archives up to this sequence. */
async function archiveTo(
  { chain, log }: World,
  sequence: number,
  parts: Partial<BlockArchive> = {},
): Promise<void> {
  const stop = new AbortController()
  const archiver = new BlockArchiver({
    chain,
    log,
    archive: { ...archive, ...parts },
    insist: (work) => work(),
    signal: stop.signal,
    onArchived: (archived) => {
      if (archived >= sequence) stop.abort()
    },
  })
  await archiver.run()
}

async function replay({ chain, log }: World, after?: LogPosition): Promise<LogMessage[]> {
  const stop = new AbortController()
  const end = await log.lastSequence()
  const messages: LogMessage[] = []
  const parts = { chain, log, archive, logger: common.logger }
  for await (const message of replayBlocks(parts, { after, signal: stop.signal })) {
    messages.push({ ...message, body: Uint8Array.from(message.body) })
    if (message.position.sequence >= end) break
  }
  return messages
}

describe('archive of BLOCKS', () => {
  test('holds every message before the first block that is not final', async () => {
    const world = await newWorld()
    const { chain, log, append } = world
    await append(...blocks(chain, 1, 9), { kind: 'undo', chain, lastValid: { number: 7, hash: 'a7' } })
    await append(...blocks(chain, 8, 12, 'b'), final(chain, 8), ...blocks(chain, 13, 14, 'b'))
    const all = await readAll(log)
    // Blocks 1 to 8: the ninth is not final yet, although it was undone.
    await archiveTo(world, all[7]?.position.sequence as number)
    assert.deepEqual(await archive.end(chain, log.epoch), all[7]?.position)
    await append(final(chain, 12))
    await archiveTo(world, all[15]?.position.sequence as number)
    const archived = []
    for await (const message of archive.read(chain, log.epoch, 0)) archived.push(message)
    assert.equal(archived.length, 16)
    assert.deepEqual(
      archived.map(({ body }) => Buffer.from(body).toString('hex')),
      all.slice(0, 16).map(({ body }) => Buffer.from(body).toString('hex')),
    )
    assert.deepEqual(
      archived.map(({ position }) => position),
      all.slice(0, 16).map(({ position }) => position),
    )
  })

  test('holds settings once the block after them is final', async () => {
    const world = await newWorld()
    const { chain, log, append } = world
    const settings = { rules: 1, dexes: [], quoteAssets: [], minDepthUsd: 1n, lockers: [] }
    await append(...blocks(chain, 1, 2), { kind: 'settings', chain, settings }, final(chain, 2))
    const [, second] = await readAll(log)
    await archiveTo(world, second?.position.sequence as number)
    assert.deepEqual(await archive.end(chain, log.epoch), second?.position)
    await append(...blocks(chain, 3, 4), final(chain, 3))
    const all = await readAll(log)
    await archiveTo(world, all[4]?.position.sequence as number)
    assert.deepEqual(await archive.end(chain, log.epoch), all[4]?.position)
    const rows = await client.query({
      query: `SELECT kind FROM archived_blocks WHERE chain = '${chain}' ORDER BY seq`,
      format: 'JSONEachRow',
    })
    const kinds = (await rows.json<{ kind: string }>()).map(({ kind }) => kind)
    assert.deepEqual(kinds, ['block', 'block', 'settings', 'final', 'block'])
  })

  test('is read up to its commit point, and a batch that was not committed is written again', async () => {
    const world = await newWorld()
    const { chain, log, append } = world
    await append(...blocks(chain, 1, 20), final(chain, 20))
    const end = await log.lastSequence()
    const crash = () => Promise.reject(new Error('crash'))
    await assert.rejects(archiveTo(world, end, { commit: crash }), /crash/)
    assert.equal(await archive.end(chain, log.epoch), undefined)
    for await (const _ of archive.read(chain, log.epoch, 0)) assert.fail('nothing is committed')
    await archiveTo(world, end)
    const messages = []
    for await (const { position } of archive.read(chain, log.epoch, 0)) messages.push(position.sequence)
    assert.equal(new Set(messages).size, 21)
  })

  test('and the log are one sequence, from every position, after the log has dropped its beginning', async () => {
    const world = await newWorld()
    const { chain, log, append } = world
    await append(...blocks(chain, 1, 100), final(chain, 80))
    const all = await readAll(log)
    await archiveTo(world, all[79]?.position.sequence as number)
    const dropped = await logs.openTrimmer('BLOCKS', chain).trim(all[59]?.position.sequence as number)
    assert.equal(dropped, all[59]?.position.sequence)
    for (const start of [0, 1, 37, 59, 60, 61, 79, 80, 99]) {
      const found = await replay(world, all[start - 1]?.position)
      assert.deepEqual(found, all.slice(start), `after ${start}`)
    }
    await assert.rejects(async () => {
      for await (const _ of log.read({ after: undefined, signal: AbortSignal.timeout(5_000) }));
    }, hasCode('log_truncated'))
  })

  test('goes on when the log drops what a slow reader has not read yet', async () => {
    const world = await newWorld()
    const { chain, log, append } = world
    await append(...blocks(chain, 1, 40), final(chain, 40))
    const all = await readAll(log)
    await archiveTo(world, await log.lastSequence())
    const trimmer = logs.openTrimmer('BLOCKS', chain)
    const parts = {
      chain,
      log: droppingLog(log, () => trimmer.trim(all[30]?.position.sequence as number)),
      archive,
    }
    const found = []
    const stop = new AbortController()
    for await (const message of replayBlocks(
      { ...parts, logger: common.logger },
      { after: undefined, signal: stop.signal },
    )) {
      found.push({ ...message, body: Uint8Array.from(message.body) })
      if (found.length === all.length) break
    }
    assert.deepEqual(found, all)
  })

  test('refuses a changed byte and a missing message', async () => {
    const world = await newWorld()
    const { chain, log, append } = world
    await append(...blocks(chain, 1, 10), final(chain, 10))
    const all = await readAll(log)
    await archiveTo(world, await log.lastSequence())
    const readArchive = async () => {
      for await (const _ of archive.read(chain, log.epoch, 0));
    }
    await readArchive()
    const seq = all[4]?.position.sequence
    const alter = (sql: string) =>
      client.command({
        query: `ALTER TABLE archived_blocks ${sql} WHERE chain = '${chain}' AND seq = ${seq}`,
        clickhouse_settings: { mutations_sync: '2' },
      })
    await alter(`UPDATE body = concat('x', substring(body, 2))`)
    await assert.rejects(readArchive(), /does not match its checksum/)
    await alter('DELETE')
    await assert.rejects(readArchive(), /is missing/)
  })
})

/** The log, which drops its beginning after the tenth message that was read. */
function droppingLog(log: ChainLog, drop: () => Promise<unknown>): ChainLog {
  return Object.assign(Object.create(log), {
    epoch: log.epoch,
    isQuarantined: log.isQuarantined.bind(log),
    read: async function* (options: Parameters<ChainLog['read']>[0]) {
      let read = 0
      for await (const message of log.read(options)) {
        yield message
        read++
        if (read < 10 || options.after !== undefined) continue
        await drop()
        yield* log.read({ ...options, after: message.position })
      }
    },
  }) as ChainLog
}

describe('trim', () => {
  test('drops whole messages only, and never the last one', async () => {
    const { chain, log, append } = await newWorld()
    const trimmer = logs.openTrimmer('BLOCKS', chain)
    await append(...blocks(chain, 1, 8))
    const all = await readAll(log)
    const ends = all.map(({ position }) => position.sequence)
    // Block 7 takes several frames.
    assert.ok((ends[6] as number) - (ends[5] as number) > 1)
    assert.equal(await trimmer.trim((ends[6] as number) - 1), ends[5])
    assert.deepEqual(await readAll(log, all[5]?.position), all.slice(6))
    assert.equal(await trimmer.trim(ends[7] as number), ends[6])
    assert.equal(await trimmer.trim(ends[7] as number), ends[6])
    assert.deepEqual((await log.lastMessage())?.position, all[7]?.position)
    await append(block(chain, 9))
    assert.equal((await readAll(log, all[7]?.position)).length, 1)
  })

  test('keeps what is young, what is not stored elsewhere, and no more bytes than allowed', async () => {
    const { chain, log, append } = await newWorld()
    const trimmer = logs.openTrimmer('BLOCKS', chain)
    await append(...blocks(chain, 1, 50))
    const first = await log.lastSequence()
    const between = Date.now() + 5
    await waitFor('the clock', () => (Date.now() > between + 5 ? true : undefined))
    await append(...blocks(chain, 51, 100))
    const limits = { max_age_seconds: 10, max_bytes: 0 }
    const later = between + 10_000
    assert.equal(await trimmer.lastBefore(new Date(between)), first)
    // Nothing is stored elsewhere.
    assert.equal((await trimLog(trimmer, limits, 0, later)).heldBack, first)
    assert.equal((await trimmer.size()).first, 1)
    // Half of what is too old is.
    const half = Math.floor(first / 2)
    assert.equal((await trimLog(trimmer, limits, half, later)).heldBack, first - half)
    const afterHalf = (await trimmer.size()).first
    assert.ok(afterHalf > 1 && afterHalf <= half + 1)
    // All of it is.
    assert.equal((await trimLog(trimmer, limits, Number.MAX_SAFE_INTEGER, later)).heldBack, 0)
    assert.equal((await trimmer.size()).first, first + 1)
    // Young, but too much.
    const { bytes } = await trimmer.size()
    const small = { max_age_seconds: 0, max_bytes: Math.floor(bytes / 3) }
    for (let i = 0; i < 5; i++) await trimLog(trimmer, small, Number.MAX_SAFE_INTEGER, later)
    assert.ok((await trimmer.size()).bytes < bytes / 2)
    assert.ok((await trimmer.size()).bytes > 0)
  })
})
