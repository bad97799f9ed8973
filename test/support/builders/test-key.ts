import { pino } from 'pino'
import { Registry } from 'prom-client'
import { digestOf, encodeKeyRecord } from '../../../src/gateway/access/keys/key-record.ts'
import { Shutdown } from '../../../src/lib/shutdown.ts'
import { connectLogs, type Logs } from '../../../src/log/connect.ts'

/** Well-formed, but nobody would be given it. */
export const API_KEY = 'ctk_0000000000000000000000000000002C8GjS'
export const API_KEY_ID = 'testkey00000'

/** Plans under which a test meets no limit by accident; `plans` of a configuration. */
export const TEST_PLANS = {
  default: {
    requests_per_second: 100_000,
    burst: 100_000,
    history_reads: 100_000,
    cu_per_month: 1_000_000_000,
    sockets: { connections: 1_000, replays: 1_000 },
  },
}

/** Makes the test key known to all gateways of this installation. */
export async function putTestKey(logs: Pick<Logs, 'openLatest'>): Promise<void> {
  const record = {
    id: API_KEY_ID,
    name: 'test',
    plan: 'default',
    created_at: 0,
    secrets: [{ sha256: digestOf(API_KEY) }],
  }
  await (await logs.openLatest('KEYS')).put(record.id, encodeKeyRecord(record))
}

/** Connects for as long as `work` takes. */
export async function withLogs<T>(
  nats: { readonly urls: readonly string[]; readonly prefix: string },
  work: (logs: Logs) => Promise<T>,
): Promise<T> {
  const logger = pino({ level: 'silent' })
  const common = { logger, metrics: new Registry(), shutdown: new Shutdown(logger) }
  const logs = await connectLogs({ ...nats, replicas: 1, max_frame_bytes: 900_000 }, common)
  try {
    return await work(logs)
  } finally {
    await logs.close()
  }
}
