import { Redis } from 'ioredis'
import { INTERVALS, intervalSeconds } from '../src/domain/interval.ts'
import { poolOf } from './engine/made-market.ts'
import { MeasuredFold } from './engine/measured-fold.ts'
import { readRecordedSwaps } from './engine/recorded-swaps.ts'
import { sized } from './form.ts'
import type { Bench, Sides } from './measure.ts'
import { openRoles, type RunningRoles } from './roles/open-roles.ts'

const CANDLES = sized({ full: 300, short: 300, smoke: 10 })
/** V2 and V3 pairs against USDC and WETH. All of them are busy. */
const PAIRS = [0, 1, 2, 3, 4]
/** With fewer, most candles would have one price; a second cannot have more. */
const BLOCKS_PER_CANDLE = 2

/** What Redis itself says that all its keys take, written by the writer's role from an engine's change sets. */
export const bench: Bench = {
  figures: [
    {
      name: `bytes of a busy pair with ${CANDLES} candles of every interval`,
      bar: 150_000,
      goal: 60_000,
      direction: 'at most',
      per: 'slice',
      open,
    },
  ],
}

async function open(): Promise<Sides> {
  const roles = await openRoles(['writer'])
  await writeBusyPairs(roles)
  const redis = new Redis(roles.stack.redisUrl)
  const wrong = await missingCandles(roles)
  return {
    subject: async () => {
      const units = (await bytesOfAllKeys(redis)) / PAIRS.length
      return { units, complete: true, ...(wrong !== undefined && { wrong }) }
    },
    close: async () => {
      const used = /used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]
      console.log(`${await redis.dbsize()} keys of ${PAIRS.length} pairs; used_memory ${used} bytes`)
      await redis.quit()
      await roles.stop()
    },
  }
}

async function writeBusyPairs(roles: RunningRoles): Promise<void> {
  const fold = new MeasuredFold(readRecordedSwaps(), { pairs: PAIRS.length })
  const publisher = await (await roles.logs.open('CHANGES', 'eth')).openPublisher()
  fold.introduce()
  let last = 0
  for (const time of blockTimes(fold.place.time)) {
    for (const { bytes, seq } of fold.foldBlockAt(time, PAIRS)) {
      await publisher.publish(bytes)
      last = seq
    }
  }
  await fold.close()
  await roles.written(last)
}

/** So that every interval has its candles up to the end, and each of these more than one block. */
function blockTimes(after: number): number[] {
  const longest = Math.max(...INTERVALS.map(intervalSeconds))
  const end = after + longest * (CANDLES + 2)
  const times = new Set<number>()
  for (const interval of INTERVALS) {
    const step = Math.max(1, Math.floor(intervalSeconds(interval) / BLOCKS_PER_CANDLE))
    for (let time = end - (CANDLES + 1) * intervalSeconds(interval); time <= end; time += step)
      times.add(time)
  }
  return [...times].sort((one, other) => one - other)
}

async function missingCandles({ hot }: RunningRoles): Promise<string | undefined> {
  for (const pair of PAIRS) {
    for (const interval of INTERVALS) {
      const series = await hot.recentCandles({ chain: 'eth', pair: poolOf(pair), interval }, CANDLES)
      const found = series?.candles.length ?? 0
      if (found < CANDLES) return `pair ${pair} has ${found} candles of ${interval}`
    }
  }
  return undefined
}

async function bytesOfAllKeys(redis: Redis): Promise<number> {
  let bytes = 0
  let cursor = '0'
  do {
    const [next, keys] = await redis.scanBuffer(cursor, 'COUNT', 1_000)
    for (const key of keys) bytes += Number(await redis.call('MEMORY', 'USAGE', key, 'SAMPLES', '0'))
    cursor = next.toString()
  } while (cursor !== '0')
  return bytes
}
