import type { BlockEnvelope } from '../domain/envelope.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { type FoldedChain, storedName, supplementName } from '../domain/generation.ts'
import type { LogPosition } from '../domain/log-position.ts'
import { mergeBlocks } from '../domain/merge-blocks.ts'
import type { LogMessage } from '../log/chain-log.ts'
import type { BlockArchive, ReadMessage } from '../store/clickhouse/block-archive.ts'
import { decodeEnvelope, encodeEnvelope } from '../wire/envelope-codec.ts'
import { type ReplayParts, replayBlocks } from './replay-blocks.ts'

type SupplementParts = FoldedChain & {
  readonly epoch: string
  readonly archive: Pick<BlockArchive, 'read' | 'lastSequence'>
}

/** The messages of BLOCKS as this generation folds them, otherwise like `replayBlocks`. */
export function readGeneration(
  parts: ReplayParts & Pick<SupplementParts, 'generation' | 'archive'>,
  options: Parameters<typeof replayBlocks>[1],
): AsyncGenerator<LogMessage, void, undefined> {
  const messages = replayBlocks(parts, options)
  return withSupplement({ ...parts, epoch: parts.log.epoch }, options.after, messages)
}

/**
 * Merges the supplement of a generation into its blocks. All that fold a generation read it this way, so that they agree
 * byte for byte.
 */
export function withSupplement<Message extends ReadMessage & Pick<LogMessage, 'isQuarantined'>>(
  parts: SupplementParts,
  after: LogPosition | undefined,
  messages: AsyncGenerator<Message, void, undefined>,
): AsyncGenerator<Message, void, undefined> {
  return parts.generation.supplement === undefined ? messages : addSupplement(parts, after, messages)
}

async function* addSupplement<Message extends ReadMessage & Pick<LogMessage, 'isQuarantined'>>(
  parts: SupplementParts,
  after: LogPosition | undefined,
  messages: AsyncGenerator<Message, void, undefined>,
): AsyncGenerator<Message, void, undefined> {
  const added = supplementAfter(parts, after?.sequence ?? 0)
  let next = await added.next()
  for await (const message of messages) {
    const { sequence } = message.position
    const place = next.done ? Number.POSITIVE_INFINITY : next.value.position.sequence
    if (place < sequence) throw damaged(parts, `block ${place} of the supplement is not in BLOCKS`)
    if (next.done || place > sequence) {
      yield message
      continue
    }
    // A quarantined block is folded without its content.
    yield message.isQuarantined ? message : { ...message, body: merged(parts, message, next.value) }
    next = await added.next()
  }
}

async function* supplementAfter(parts: SupplementParts, after: number): AsyncGenerator<ReadMessage> {
  const { chain, generation, epoch, archive } = parts
  const { supplement } = generation
  if (supplement === undefined) return
  const { until } = supplement
  if (until === undefined) throw new Error(`the supplement of ${storedName(chain, generation)} is incomplete`)
  if (after >= until) return
  const name = supplementName(storedName(chain, generation), supplement)
  const before = await archive.lastSequence(name, epoch, after)
  yield* archive.read(name, epoch, before, until)
}

function merged(parts: SupplementParts, { body, position }: ReadMessage, added: ReadMessage): Uint8Array {
  const [block, extra] = [body, added.body].map(decodeEnvelope) as [BlockEnvelope, BlockEnvelope]
  const isSame = block.kind === 'block' && extra.kind === 'block' && block.hash === extra.hash
  if (!isSame)
    throw damaged(parts, `message ${position.sequence} of BLOCKS is not the block of the supplement`)
  return encodeEnvelope(mergeBlocks(block, extra))
}

function damaged({ chain, generation }: SupplementParts, reason: string): ChaintapeError {
  return new ChaintapeError('log_damaged', `${storedName(chain, generation)}: ${reason}`)
}
