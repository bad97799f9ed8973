import { SubscribeUpdate } from '@triton-one/yellowstone-grpc'
import { sized } from './form.ts'
import { type Bench, processClock, recordedValues, repeat, type Sides, type Slice } from './measure.ts'
import { streamedBlocks } from './solana/streamed-blocks.ts'
import { StreamedFold } from './solana/streamed-fold.ts'

/** Mean of non-vote transactions per second on the chain's record day. */
const RECORD_PER_SECOND = 1_713
const TIMES_RECORD = 3
/** What the record day has in 0.4 seconds. */
const PER_BLOCK = sized({ full: 685, short: 685, smoke: 150 })
const BLOCKS = sized({ full: 8, short: 4, smoke: 2 })

/**
 * A Yellowstone stream from its bytes to those of CHANGES: protobuf, transactions to raw logs, BLOCKS, the fold. Against
 * the generated codecs alone, which decode the same bytes into objects.
 */
export const bench: Bench = {
  figures: [
    {
      name: 'gRPC bytes to CHANGES / bare protobuf decoding',
      ...{ bar: 0.15, goal: 0.3, direction: 'at least', per: 'cpu second' },
      open: openFold,
    },
    {
      name: `transactions per CPU second / ${TIMES_RECORD} x ${RECORD_PER_SECOND}`,
      ...{ bar: 1, goal: 2, direction: 'at least', per: 'slice', isTime: true },
      open: () => ({ subject: recordedValues(shares) }),
    },
  ],
}

/** Recorded by the first figure for the second. */
const shares: number[] = []

function openFold(): Sides {
  const messages = streamedBlocks(BLOCKS, PER_BLOCK)
  const bytes = messages.reduce((sum, { length }) => sum + length, 0)
  const fold = new StreamedFold()
  fold.introduce(messages)
  // The messages repeat, and each one has as many trades as the first time.
  const trades = fold.tradesInLast()
  console.log(
    `${BLOCKS} blocks of ${PER_BLOCK} transactions, ${Math.round(bytes / BLOCKS / PER_BLOCK)} bytes each; ${trades} trades in the last one`,
  )
  let decoded = 0
  return {
    subject: measured(async () => {
      for (const message of messages) await fold.fold(message)
      const found = fold.tradesInLast()
      return found === trades && trades > 0 ? undefined : `${found} trades instead of ${trades}`
    }),
    baseline: repeat(
      () => {
        decoded = 0
        for (const message of messages)
          decoded += SubscribeUpdate.decode(message).block?.transactions.length ?? 0
        return BLOCKS * PER_BLOCK
      },
      () => (decoded === BLOCKS * PER_BLOCK ? undefined : `${decoded} transactions decoded`),
    ),
    close: async () => {
      const sorted = shares.toSorted((a, b) => a - b)
      const median = (sorted[sorted.length >> 1] ?? 0) * RECORD_PER_SECOND * TIMES_RECORD
      console.log(`${Math.round(median)} transactions per CPU second, all threads`)
      await fold.close()
    },
  }
}

function measured(foldAll: () => Promise<string | undefined>): Slice {
  return async (durationMs) => {
    const start = performance.now()
    const cpuStart = processClock.cpuSeconds()
    let units = 0
    let wrong: string | undefined
    while (performance.now() - start < durationMs && wrong === undefined) {
      wrong = await foldAll()
      units += BLOCKS * PER_BLOCK
    }
    const cpuSeconds = processClock.cpuSeconds() - cpuStart
    shares.push(units / cpuSeconds / (RECORD_PER_SECOND * TIMES_RECORD))
    return { units, ...(wrong !== undefined && { wrong }) }
  }
}
