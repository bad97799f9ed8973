import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EVM_PROTOCOLS } from '../../src/dex/protocols.ts'
import {
  allTransactions,
  hasRecordings,
  type RecordedBlock,
  receiptsText,
  recordedBlocks,
  transactionsOf,
} from '../support/recorded/recorded-transactions.ts'

/** What the pools of V2, of V3 and of PancakeSwap V3 say when they trade: written out once more. */
const SWAPS: Readonly<Record<string, string>> = {
  v2: '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822',
  v3: '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67',
  pcsv3: '0x19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83',
}
const PROTOCOLS_OF: Readonly<Record<string, readonly string[]>> = {
  v2: ['uniswap_v2', 'solidly'],
  v3: ['uniswap_v3', 'slipstream', 'algebra'],
  pcsv3: ['pancakeswap_v3'],
}

test('a recorded block decodes to as many swaps as its text has matching topics', {
  skip: !hasRecordings,
}, () => {
  const blocks = recordedBlocks()
  assert.equal(blocks.length, 33)
  let total = 0
  for (const block of blocks) {
    const text = receiptsText(block)
    const decoded = swapsDecoded(block)
    for (const [kind, topic] of Object.entries(SWAPS)) {
      // The text knows nothing of receipts or logs: a topic stands there once for each log.
      const written = text.split(`"${topic}"`).length - 1
      for (const protocol of PROTOCOLS_OF[kind] ?? []) {
        assert.equal(decoded[`${protocol} ${topic}`] ?? 0, written, `${block.file}: ${kind} as ${protocol}`)
      }
      assert.equal(written, block.swaps[kind] ?? 0, `${block.file}: ${kind} as recorded`)
      total += written
    }
  }
  assert.equal(total, 807)
  console.log(`${total} swaps in ${blocks.length} blocks`)
})

test('every log of every recording can be read as anything', { skip: !hasRecordings }, () => {
  const readers = Object.values(EVM_PROTOCOLS).flatMap(({ announcements, events }) => [
    ...Object.values(announcements),
    ...Object.values(events),
  ])
  let readings = 0
  for (const { hash, logs } of allTransactions()) {
    for (const log of logs) {
      for (const read of readers) {
        assert.doesNotThrow(() => read(log), `log ${log.index} of ${hash}`)
        readings += 1
      }
    }
  }
  assert.ok(readings > 1_000_000)
})

/** By protocol and topic. */
function swapsDecoded(block: RecordedBlock): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const log of transactionsOf(block).flatMap(({ logs }) => logs)) {
    const topic = log.topics[0] ?? ''
    for (const [name, { events }] of Object.entries(EVM_PROTOCOLS)) {
      if (events[topic]?.(log)?.type !== 'swapped') continue
      counts[`${name} ${topic}`] = (counts[`${name} ${topic}`] ?? 0) + 1
    }
  }
  return counts
}
