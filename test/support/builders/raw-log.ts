import type { RawLog } from '../../../src/domain/envelope.ts'

/** A log as a node returns it. */
export function rawLog(address: string, topics: readonly string[], data: string): RawLog {
  return { index: 0, address, topics, data: Buffer.from(data.slice(2), 'hex') }
}

/** An address as an indexed parameter. */
export function padded(address: string): string {
  return `0x${address.slice(2).padStart(64, '0')}`
}

/** What no reader may take for its event: each topic but the first gone or dirty, the data cut at any word. */
export function* spoiled(log: RawLog): Generator<RawLog> {
  for (let topic = 1; topic < log.topics.length; topic++) {
    yield { ...log, topics: log.topics.slice(0, topic) }
    yield { ...log, topics: log.topics.with(topic, `0x01${'0'.repeat(62)}`) }
    yield { ...log, topics: log.topics.with(topic, '0x') }
  }
  for (let end = 0; end < log.data.length; end += 32) {
    yield { ...log, data: log.data.subarray(0, end) }
    yield { ...log, data: log.data.subarray(0, end + 31) }
  }
}

/** The log with another value in a word of its data. */
export function withWord(log: RawLog, index: number, value: bigint): RawLog {
  const data = Buffer.from(log.data)
  Buffer.from(BigInt.asUintN(256, value).toString(16).padStart(64, '0'), 'hex').copy(data, index * 32)
  return { ...log, data }
}
