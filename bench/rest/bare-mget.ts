import { Redis } from 'ioredis'
import type { SliceOutcome } from '../measure.ts'

export type MgetPlan = { readonly url: string; readonly keys: readonly string[]; readonly underWay: number }

/** The client alone: asked for a time to work, it reads all keys with one command, over and over. */
const { url, keys, underWay } = JSON.parse(process.argv[2] ?? '') as MgetPlan
const redis = new Redis(url)
const expected = await redis.mgetBuffer([...keys])

async function slice(durationMs: number): Promise<SliceOutcome> {
  const before = process.cpuUsage()
  const end = performance.now() + durationMs
  let units = 0
  let last: (Buffer | null)[] = []
  const readOn = async (): Promise<void> => {
    do {
      last = await redis.mgetBuffer([...keys])
      units++
    } while (performance.now() < end)
  }
  await Promise.all(Array.from({ length: underWay }, readOn))
  const isRight = keys.every((_, at) => last[at] && expected[at]?.equals(last[at]))
  const { user, system } = process.cpuUsage(before)
  const outcome = { units, cpuSeconds: (user + system) / 1_000_000 }
  return isRight ? outcome : { ...outcome, wrong: 'other documents were read' }
}

process.on('message', (durationMs) => {
  if (typeof durationMs === 'number') void slice(durationMs).then((outcome) => process.send?.(outcome))
})
process.channel?.ref()
process.send?.('ready')
