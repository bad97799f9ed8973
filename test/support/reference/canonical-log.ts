import { connectLogs } from '../../../src/log/connect.ts'
import type { Stack } from '../../../src/sandbox/servers/stack.ts'
import { decodeEnvelope } from '../../../src/wire/envelope-codec.ts'
import { readAll } from '../rigs/log-reading.ts'
import { createTestCommon } from '../rigs/test-common.ts'
import { CanonicalView } from './canonical-view.ts'

/** The chain as seen by a consumer of its BLOCKS log alone; every step is checked. */
export async function canonicalView(stack: Stack, prefix: string): Promise<CanonicalView> {
  const options = { urls: stack.natsUrls, prefix, replicas: 1, max_frame_bytes: 900_000 }
  const logs = await connectLogs(options, createTestCommon())
  try {
    const log = await logs.open('BLOCKS', 'local')
    return CanonicalView.of((await readAll(log)).map(({ body }) => decodeEnvelope(body)))
  } finally {
    await logs.close()
  }
}

/** Hashes by block number, as seen by a consumer of the BLOCKS log alone. */
export async function canonicalLog(stack: Stack, prefix: string): Promise<Map<number, string>> {
  const { blocks } = await canonicalView(stack, prefix)
  return new Map(blocks.map(({ number, hash }) => [number, hash]))
}
