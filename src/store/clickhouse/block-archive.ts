import { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client'
import { ChaintapeError } from '../../domain/errors.ts'
import type { LogPosition } from '../../domain/log-position.ts'
import { type ClickhouseOptions, connectClickhouse } from './connect.ts'
import { guardClickhouse } from './failure.ts'
import { insertSettings } from './insert-settings.ts'
import { createAsk } from './read/ask.ts'
import { number, type Row, text } from './read/records.ts'
import { RowBinary } from './row-binary.ts'

/** A message of BLOCKS with what people look for in the archive. */
export type ArchivedMessage = {
  readonly body: Uint8Array
  /** The position after the message, and the sequence before it. */
  readonly position: LogPosition
  readonly previousSequence: number
  readonly kind: 'block' | 'undo' | 'final' | 'settings' | 'unreadable'
  readonly number: number
  readonly hash: string
  readonly time: number
}

export type ArchivedBlock = Pick<ArchivedMessage, 'number' | 'hash'> & { readonly sequence: number }

export type ReadMessage = { readonly body: Uint8Array; readonly position: LogPosition }

/** The messages of BLOCKS, byte for byte, for as long as ClickHouse keeps them. */
export type BlockArchive = {
  /** The commit point: everything up to this position is archived. Undefined before the first batch. */
  end(chain: string, epoch: string): Promise<LogPosition | undefined>
  /** Idempotent: a message is identified by its sequence. */
  write(chain: string, messages: readonly ArchivedMessage[]): Promise<void>
  commit(chain: string, position: LogPosition): Promise<void>
  /** All messages after a sequence, up to the commit point, or to `until` if its caller has another commit point. */
  read(
    chain: string,
    epoch: string,
    after: number,
    until?: number,
  ): AsyncGenerator<ReadMessage, void, undefined>
  /** The message that ends at this sequence; undefined if it is not archived. */
  messageAt(chain: string, epoch: string, sequence: number): Promise<ReadMessage | undefined>
  /** All archived settings, in order. */
  settings(chain: string, epoch: string): Promise<ReadMessage[]>
  /** The sequence of the last message up to this one; 0 if there is none. */
  lastSequence(chain: string, epoch: string, upTo: number): Promise<number>
  /** Sequences and hashes of final blocks, by number. Reads a column of the whole chain after a sequence. */
  blocksOf(
    chain: string,
    epoch: string,
    numbers: readonly number[],
    after: number,
  ): Promise<ReadonlyMap<number, ArchivedBlock>>
  /** The sequence of a final block; undefined if it is not archived. Reads a column of the whole chain. */
  sequenceOf(chain: string, epoch: string, number: number): Promise<number | undefined>
  /** The first final block in a range of sequences, without blocks that were undone; undefined if there is none. */
  blockFrom(chain: string, epoch: string, from: number, until: number): Promise<ReadMessage | undefined>
  close(): Promise<void>
}

const COLUMNS = 'chain, epoch, seq, previous_seq, link, kind, number, hash, time, checksum, body'
/** A page stays far below the memory of a role, even with blocks of a megabyte. */
const PAGE_ROWS = 64
const MAX_SECONDS = 30
/** A block that was undone is followed by its successor within as many messages. */
const MAX_FORK_MESSAGES = 10_000
/** Settings change when an operator edits them. */
const MAX_SETTINGS = 100_000
const NUMBERS_PER_QUERY = 1_000

export function openBlockArchive(options: ClickhouseOptions): BlockArchive {
  const client = connectClickhouse(options)
  const settings = insertSettings(options.cluster)
  const ask = createAsk(client)

  const end = async (chain: string, epoch: string): Promise<LogPosition | undefined> => {
    const [row] = await ask('archive-marker', {
      params: { chain, epoch },
      maxRows: 1,
      maxSeconds: MAX_SECONDS,
    })
    return row && { epoch, sequence: number(row, 'seq'), link: number(row, 'link') }
  }

  async function* read(
    chain: string,
    epoch: string,
    after: number,
    upTo?: number,
  ): AsyncGenerator<ReadMessage> {
    const until = upTo ?? (await end(chain, epoch))?.sequence ?? 0
    let last = after
    while (last < until) {
      const rows = await ask('archived-blocks', {
        params: { chain, epoch, after: last, until, limit: PAGE_ROWS },
        maxRows: PAGE_ROWS,
        maxSeconds: MAX_SECONDS,
      })
      for (const row of rows) {
        if (number(row, 'previous_seq') !== last) throw damaged(chain, `a message after ${last} is missing`)
        const message = messageOf(chain, epoch, row)
        last = message.position.sequence
        yield message
      }
      if (rows.length === 0) throw damaged(chain, `it ends at ${last}, not at ${until}`)
    }
  }

  const sequenceOf = async (chain: string, epoch: string, block: number, from: number, until: number) => {
    const params = { chain, epoch, number: block, from, until }
    const [row] = await ask('archived-sequence', { params, maxRows: 1, maxSeconds: MAX_SECONDS })
    return row && number(row, 'seq')
  }

  const messageAt = async (chain: string, epoch: string, sequence: number) => {
    const params = { chain, epoch, after: sequence - 1, until: sequence, limit: 1 }
    const [row] = await ask('archived-blocks', { params, maxRows: 1, maxSeconds: MAX_SECONDS })
    return row && messageOf(chain, epoch, row)
  }

  return {
    end,
    messageAt,
    settings: async (chain, epoch) => {
      const question = { params: { chain, epoch }, maxRows: MAX_SETTINGS, maxSeconds: MAX_SECONDS }
      return (await ask('archived-settings', question)).map((row) => messageOf(chain, epoch, row))
    },
    lastSequence: async (chain, epoch, upTo) => {
      const question = { params: { chain, epoch, upTo }, maxRows: 1, maxSeconds: MAX_SECONDS }
      const [row] = await ask('archived-last-sequence', question)
      return row === undefined ? 0 : number(row, 'seq')
    },
    blocksOf: async (chain, epoch, numbers, after) => {
      const until = (await end(chain, epoch))?.sequence ?? 0
      const found = new Map<number, ArchivedBlock>()
      for (let first = 0; first < numbers.length; first += NUMBERS_PER_QUERY) {
        const some = numbers.slice(first, first + NUMBERS_PER_QUERY)
        const params = { chain, epoch, numbers: some, after, until }
        const question = { params, maxRows: NUMBERS_PER_QUERY, maxSeconds: MAX_SECONDS }
        for (const row of await ask('archived-blocks-of', question)) {
          const block = number(row, 'number')
          found.set(block, { number: block, sequence: number(row, 'last_seq'), hash: text(row, 'last_hash') })
        }
      }
      return found
    },
    write: (chain, messages) => insertMessages(client, settings, chain, messages),
    commit: (chain, { epoch, sequence: seq, link }) =>
      guardClickhouse(async () => {
        await client.insert({
          table: 'archive_markers',
          format: 'JSONEachRow',
          values: [{ chain, epoch, seq, link }],
          clickhouse_settings: settings,
        })
      }),
    read,
    sequenceOf: (chain, epoch, block) => sequenceOf(chain, epoch, block, 0, Number.MAX_SAFE_INTEGER),
    blockFrom: async (chain, epoch, from, until) => {
      const question = { params: { chain, epoch, from, until }, maxRows: 1, maxSeconds: MAX_SECONDS }
      const [found] = await ask('archived-block-from', question)
      if (found === undefined) return undefined
      const seq = number(found, 'seq')
      const near = Math.min(until, seq + MAX_FORK_MESSAGES)
      const last = (await sequenceOf(chain, epoch, number(found, 'number'), seq, near)) ?? seq
      return messageAt(chain, epoch, last)
    },
    close: () => client.close(),
  }
}

function messageOf(chain: string, epoch: string, row: Row): ReadMessage {
  const sequence = number(row, 'seq')
  const body = Buffer.from(text(row, 'body'), 'base64')
  if (crc32(body) !== number(row, 'checksum'))
    throw damaged(chain, `message ${sequence} does not match its checksum`)
  return { body, position: { epoch, sequence, link: number(row, 'link') } }
}

async function insertMessages(
  client: ClickHouseClient,
  clickhouse_settings: ClickHouseSettings,
  chain: string,
  messages: readonly ArchivedMessage[],
): Promise<void> {
  const rows = new RowBinary()
  for (const { body, position, previousSequence, kind, number: block, hash, time } of messages) {
    rows.begin()
    rows.string(chain)
    rows.string(position.epoch)
    rows.u64(position.sequence)
    rows.u64(previousSequence)
    rows.u32(position.link)
    rows.string(kind)
    rows.u64(block)
    rows.string(hash)
    rows.time(time)
    rows.u32(crc32(body))
    rows.blob(body)
  }
  await guardClickhouse(async () => {
    const { stream } = await client.exec({
      query: `INSERT INTO archived_blocks (${COLUMNS}) FORMAT RowBinary`,
      values: Readable.from(rows.finish(), { objectMode: false }),
      clickhouse_settings,
    })
    // The empty response has to be consumed to release the connection.
    for await (const _ of stream);
  })
}

function damaged(chain: string, reason: string): ChaintapeError {
  return new ChaintapeError('log_damaged', `archive of BLOCKS of ${chain}: ${reason}`)
}
