import assert from 'node:assert/strict'
import { keccak256 } from 'viem'
import type { DexEvent, TokenEvent } from '../../src/dex/events.ts'
import type { DexDeployment, Protocol, ReadEvent } from '../../src/dex/protocol.ts'
import { EVM_PROTOCOLS } from '../../src/dex/protocols.ts'
import type { RawLog } from '../../src/domain/envelope.ts'
import { allTransactions, hasRecordings } from '../support/recorded/recorded-transactions.ts'
import { checkEvent, checkFound, checkTokenEvent } from './dex-rules.ts'
import type { Random } from './random.ts'
import { addressWord, hexOf, randomAddress, randomWord } from './random-words.ts'

/**
 * Anyone can emit anything, and a node can answer anything. Whatever comes, a reader says undefined or an event that
 * keeps the rules of events.ts; it neither throws nor takes long. Half of the logs begin as real ones, where there
 * are recordings: a random log is seldom far enough along to be read to its end.
 */

type Reader = {
  readonly topic: string
  readonly read: ReadEvent<DexEvent | TokenEvent>
  readonly real: RawLog[]
}

const MAX_MS = 1_000
const MAX_ROUNDS = 4
const INQUIRY_SHARE = 0.1
/** Where a pool is known by the hash of its key: how many words the key has. */
const WORDS_OF_KEYS: Readonly<Record<string, number>> = {
  uniswap_v4: 5,
  pancakeswap_infinity_cl: 6,
  pancakeswap_infinity_bin: 6,
}

const readers: Reader[] = Object.values(EVM_PROTOCOLS).flatMap(
  ({ announcements, events, tokenEvents = {} }) =>
    [announcements, events, tokenEvents].flatMap((all) =>
      Object.entries<ReadEvent<DexEvent | TokenEvent>>(all).map(([topic, read]) => ({
        topic,
        read,
        real: [],
      })),
    ),
)
/** Those with pools to ask about. */
const pooled = Object.keys(EVM_PROTOCOLS).filter(
  (name) => Object.keys(EVM_PROTOCOLS[name]?.events ?? {}).length > 0,
)
if (hasRecordings) {
  for (const log of allTransactions().flatMap(({ logs }) => logs)) {
    for (const { topic, real } of readers) if (topic === log.topics[0] && real.length < 50) real.push(log)
  }
}

export function fuzz(random: Random): void {
  const started = process.cpuUsage()
  if (random.chance(INQUIRY_SHARE)) checkInquiry(random, random.pick(pooled))
  else checkReader(random, random.pick(readers))
  const took = process.cpuUsage(started).user / 1_000
  assert.ok(took < MAX_MS, `one case took ${took.toFixed(0)} ms`)
}

function checkReader(random: Random, { topic, read, real }: Reader): void {
  const isReal = real.length > 0 && random.chance(0.5)
  let log = isReal ? random.pick(real) : inventedLog(random, topic)
  for (let times = random.below(isReal ? 4 : 2); times > 0; times--) log = mutated(random, log)
  const event = read(log)
  // What is not even hex is only not to break anything: no node's answer gets as far.
  if (event === undefined || log.topics.some((each) => each.includes('z'))) return
  try {
    if ('pool' in event) checkEvent(event)
    else checkTokenEvent(event)
  } catch (error) {
    console.error({ ...log, data: Buffer.from(log.data).toString('hex') }, event)
    throw error
  }
}

function inventedLog(random: Random, topic: string): RawLog {
  const topics = [topic]
  for (let indexed = random.below(4); indexed > 0; indexed--) topics.push(hexOf(randomWord(random)))
  const data = Buffer.concat(Array.from({ length: random.below(14) }, () => randomWord(random)))
  return { index: random.below(1_000), address: randomAddress(random), topics, data }
}

function mutated(random: Random, log: RawLog): RawLog {
  const data = Buffer.from(log.data)
  const words = Math.floor(data.length / 32)
  const at = random.below(Math.max(1, words))
  switch (random.below(9)) {
    case 0:
      return { ...log, topics: log.topics.slice(0, random.below(log.topics.length + 1)) }
    case 1:
      return { ...log, topics: [...log.topics, hexOf(randomWord(random))] }
    case 2: {
      if (log.topics.length < 2) return log
      const odd = ['0x', '', `0x${'0'.repeat(63)}`, `0x${'z'.repeat(64)}`, hexOf(randomWord(random))]
      return { ...log, topics: log.topics.with(random.between(1, log.topics.length - 1), random.pick(odd)) }
    }
    case 3:
      return { ...log, data: data.subarray(0, random.below(data.length + 1)) }
    case 4:
      return { ...log, data: Buffer.concat([data, random.bytes(random.below(70))]) }
    case 5:
      // Bytes that lie in the middle of a larger buffer, as those of an envelope do.
      return { ...log, data: Buffer.concat([random.bytes(7), data]).subarray(7) }
    case 6:
      for (let flips = random.between(1, 8); flips > 0 && data.length > 0; flips--) {
        const place = random.below(data.length)
        data[place] = (data[place] ?? 0) ^ (1 << random.below(8))
      }
      return { ...log, data }
    case 7:
      if (words > 1) data.copyWithin(at * 32, random.below(words) * 32, random.between(1, words) * 32)
      return { ...log, data }
    default:
      if (words > 0) randomWord(random).copy(data, at * 32)
      return { ...log, data }
  }
}

function checkInquiry(random: Random, protocol: string): void {
  const deployments = Array.from({ length: random.between(1, 3) }, () => randomDeployment(random))
  const factories = deployments.map(({ factory }) => Buffer.from(factory.slice(2).padStart(64, '0'), 'hex'))
  const words = WORDS_OF_KEYS[protocol]
  const key = Buffer.concat(
    Array.from({ length: words ?? 0 }, () =>
      random.chance(0.2) ? random.pick(factories) : randomWord(random),
    ),
  )
  const { identify, events, isLaunchPlatform } = EVM_PROTOCOLS[protocol] as Protocol
  // A curve is asked about by what the platform said of it: some address in each word, so that it is read.
  const said = Buffer.concat(Array.from({ length: random.between(1, 8) }, () => addressWord(random)))
  const topics = [random.pick(Object.keys(events))]
  const log: RawLog = { index: 0, address: deployments[0]?.factory ?? '', topics, data: said }
  const named = isLaunchPlatform ? events[topics[0] ?? '']?.(log)?.pool : undefined
  const pool = named ?? (words === undefined ? randomAddress(random) : keccak256(key))
  // Often what a real pool would say of itself, so that the inquiry goes on.
  const apt = [key, Buffer.from(pool.slice(2, 42).padStart(64, '0'), 'hex'), ...factories]
  if (named !== undefined) {
    apt.push(Buffer.concat([said, ...Array.from({ length: random.below(14) }, () => randomWord(random))]))
  }
  const inquiry = identify(pool, deployments, log)
  let step = inquiry.next([])
  for (let round = 0; !step.done; round++) {
    assert.ok(round < MAX_ROUNDS, 'it goes on asking')
    for (const { to, data } of step.value) {
      assert.match(to, /^0x[0-9a-f]{40}$/)
      assert.match(data, /^0x[0-9a-f]{8}([0-9a-f]{64})*$/)
    }
    // A failed batch may come back short, too.
    const count = random.chance(0.95) ? step.value.length : random.below(step.value.length + 1)
    step = inquiry.next(Array.from({ length: count }, () => randomAnswer(random, apt)))
  }
  if (step.value === undefined) return
  checkFound(step.value)
  assert.ok(deployments.some(({ factory }) => factory === step.value?.factory))
}

function randomAnswer(random: Random, apt: readonly Uint8Array[]): Uint8Array | undefined {
  if (random.chance(0.1)) return undefined
  if (random.chance(0.5)) return random.pick(apt)
  const answer = Buffer.concat(Array.from({ length: random.below(12) }, () => randomWord(random)))
  return random.chance(0.8) ? answer : answer.subarray(0, random.below(answer.length + 1))
}

function randomDeployment(random: Random): DexDeployment {
  return {
    amm: 'some_dex',
    protocol: 'some_protocol',
    factory: randomAddress(random),
    initCodeHash: random.chance(0.3) ? hexOf(random.bytes(32)) : undefined,
    deployer: random.chance(0.3) ? randomAddress(random) : undefined,
    positionManager: random.chance(0.8) ? randomAddress(random) : undefined,
  }
}
