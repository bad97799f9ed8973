import type { Change, ChangeSet } from '../../../src/domain/change.ts'
import type { BlockEnvelope } from '../../../src/domain/envelope.ts'
import { ByteWriter } from '../../../src/wire/byte-writer.ts'
import { encodeChangeSet } from '../../../src/wire/change-codec.ts'
import { factCodec } from '../../../src/wire/fact-codec.ts'

/** Messages in the layouts of earlier versions. */

export function withoutHoldings(set: ChangeSet): ChangeSet {
  const changes = set.changes.map((change): Change => {
    if (change.type !== 'trade') return change
    const { holdings: _, ...trade } = change.trade
    return { type: 'trade', trade }
  })
  return { ...set, changes }
}

/** CHANGES version 7: a trade ended before its holdings. The set must have none. */
export function asVersion7(set: ChangeSet): Uint8Array {
  const head = encodeChangeSet({ ...set, changes: [] }).subarray(0, -1)
  const records = runsOf(set.changes).map((changes) => {
    const record = encodeChangeSet({ ...set, changes }).subarray(head.length, -1)
    return changes[0]?.type === 'trade' ? record.subarray(0, -1) : record
  })
  return Buffer.concat([Buffer.of(7), head.subarray(1), ...records, Buffer.of(0)])
}

/** Adjacent candles of a pair are one record. */
function runsOf(changes: readonly Change[]): Change[][] {
  const runs: Change[][] = []
  for (const change of changes) {
    const last = runs.at(-1)?.[0]
    const isSameRun =
      change.type === 'candle' && last?.type === 'candle' && last.candle.pair === change.candle.pair
    if (isSameRun) runs.at(-1)?.push(change)
    else runs.push([change])
  }
  return runs
}

/** BLOCKS version 4 had no `isOld`; neither version had wallets. */
export function asFormerBlock(version: 4 | 5, block: BlockEnvelope): Uint8Array {
  const w = new ByteWriter()
  w.u8(version)
  w.u8(1)
  w.text(block.chain)
  w.varuint(block.number)
  w.id(block.hash)
  w.id(block.parentHash)
  w.varuint(block.time)
  if (version > 4) w.bool(block.isOld ?? false)
  w.list(block.transactions, ({ index, hash, from, logs }) => {
    w.varuint(index)
    w.id(hash)
    w.id(from)
    w.list(logs, (log) => {
      w.varuint(log.index)
      w.id(log.address)
      w.list(log.topics, (topic) => w.id(topic))
      w.bytes(log.data)
    })
  })
  w.list(block.facts, (fact) => factCodec.write(w, fact))
  return w.finish()
}
