import { createHash } from 'node:crypto'
import type { ChainSource, FetchedBlock } from '../../chain/source.ts'
import type { BlockEnvelope } from '../../domain/envelope.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import type { DifferenceList } from '../../domain/reconciliation.ts'
import type { Logger } from '../../lib/logger.ts'
import type { BlockArchive } from '../../store/clickhouse/block-archive.ts'
import { decodeEnvelope } from '../../wire/envelope-codec.ts'
import { type BlockRules, compareBlock } from './compare-block.ts'

export type BlockSampleParts = {
  readonly chain: string
  readonly epoch: string
  readonly archive: Pick<BlockArchive, 'end' | 'blockFrom'>
  readonly source: Pick<ChainSource, 'blockAt' | 'headerAt' | 'transactions'>
  readonly rules: BlockRules
  readonly logger: Logger
  readonly signal: AbortSignal
}

/**
 * Reads random archived blocks from a node again and compares them. Returns how many: a block that no node has any more,
 * or that cannot be read now, does not count. The same seed and archive give the same blocks.
 */
export async function reconcileBlocks(
  parts: BlockSampleParts,
  { seed, count }: { readonly seed: string; readonly count: number },
  differences: DifferenceList,
): Promise<number> {
  const { chain, epoch, archive, rules, logger, signal } = parts
  const end = (await archive.end(chain, epoch))?.sequence ?? 0
  const numbers = new Set<number>()
  let compared = 0
  for (const from of sampleOf(seed, count, end)) {
    if (signal.aborted) break
    const block = await readArchived(parts, from, end, differences)
    if (block === undefined || numbers.has(block.number)) continue
    numbers.add(block.number)
    const fetched = await fetchBlock(parts, block.number)
    if (fetched === undefined) {
      logger.debug({ block: block.number }, 'Node has no such block any more')
      continue
    }
    compareBlock(block, fetched, rules, differences)
    compared++
  }
  return compared
}

/** Different sequences up to `end`; all of them if there are no more. */
export function sampleOf(seed: string, count: number, end: number): number[] {
  if (count >= end) return Array.from({ length: end }, (_, index) => index + 1)
  const sample = new Set<number>()
  for (let round = 0; sample.size < count; round++) {
    const draw = createHash('sha256').update(`${seed}/${round}`).digest().readUIntBE(0, 6)
    sample.add(1 + (draw % end))
  }
  return [...sample]
}

async function readArchived(
  { chain, epoch, archive }: BlockSampleParts,
  from: number,
  until: number,
  differences: DifferenceList,
): Promise<BlockEnvelope | undefined> {
  try {
    const message = await archive.blockFrom(chain, epoch, from, until)
    const envelope = message && decodeEnvelope(message.body)
    return envelope?.kind === 'block' ? envelope : undefined
  } catch (error) {
    const isFault =
      error instanceof ChaintapeError && ['log_damaged', 'message_unreadable'].includes(error.code)
    if (!isFault) throw error
    const where = `BLOCKS message from ${from} on`
    differences.add({ kind: 'archive', where, what: 'message', stored: error.message, computed: '' })
    return undefined
  }
}

async function fetchBlock(
  { source, logger }: BlockSampleParts,
  number: number,
): Promise<FetchedBlock | undefined> {
  try {
    if (source.blockAt !== undefined) return await source.blockAt(number)
    const header = await source.headerAt(number)
    return header && { header, transactions: await source.transactions(header) }
  } catch (error) {
    if (!(error instanceof ChaintapeError) || !error.retryable) throw error
    logger.warn({ err: error, block: number }, 'Block could not be read again')
    return undefined
  }
}
