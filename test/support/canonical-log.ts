import assert from 'node:assert/strict'
import type { Stack } from '../../dev/stack.ts'
import { decodeEnvelope } from '../../src/domain/wire/envelope-codec.ts'
import { connectLogs } from '../../src/log/connect.ts'
import { readAll } from './log-reading.ts'
import { createTestCommon } from './test-common.ts'

/** Hashes by block number, as someone sees the chain who has only its BLOCKS log; every step is checked. */
export async function canonicalLog(stack: Stack, prefix: string): Promise<Map<number, string>> {
  const options = { urls: stack.natsUrls, prefix, replicas: 1, max_frame_bytes: 900_000 }
  const logs = await connectLogs(options, createTestCommon())
  try {
    const log = await logs.open('BLOCKS', 'local')
    const chain = new Map<number, string>()
    let tip = -1
    for (const { body } of await readAll(log)) {
      const envelope = decodeEnvelope(body)
      switch (envelope.kind) {
        case 'block':
          if (tip >= 0) assert.equal(envelope.number, tip + 1)
          if (tip >= 0) assert.equal(envelope.parentHash, chain.get(tip))
          tip = envelope.number
          chain.set(tip, envelope.hash)
          break
        case 'undo':
          while (tip > envelope.lastValid.number) chain.delete(tip--)
          assert.equal(chain.get(tip), envelope.lastValid.hash)
          break
        case 'final':
          assert.equal(chain.get(envelope.upTo.number), envelope.upTo.hash)
          break
      }
    }
    return chain
  } finally {
    await logs.close()
  }
}
