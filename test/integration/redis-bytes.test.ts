import { test } from 'node:test'
import type { Redis } from 'ioredis'
import type { Change } from '../../src/domain/change.ts'
import { ByteHashes } from '../bytes/byte-hashes.ts'
import { buildCandle, Dice } from '../support/builders/change-builders.ts'
import { buildReport } from '../support/builders/envelope-builders.ts'
import { storySets } from '../support/builders/story.ts'
import { assertExpected } from '../support/recorded/expected-lines.ts'
import { HotStoreRig, pool, putCandle, setOf } from './hot-store-rig.ts'

const rig = new HotStoreRig()

test('stored records have the recorded bytes, by kind of key', async () => {
  const { sets } = storySets({ chain: 'eth', seed: 19, messages: 150 })
  const dice = new Dice(20)
  const withContracts = sets.map((set) => {
    const contract: Change = { type: 'contract', contract: buildReport(dice) }
    return { ...set, changes: [...set.changes, contract] }
  })
  await rig.applyAll(withContracts, 5)
  // More candles of one series than its tail holds, so that some are packed.
  const candles = Array.from({ length: 100 }, (_, at) =>
    buildCandle(dice, pool.address, 'k1', { block: at, tx: 0, log: 0 }, 1_761_960_000 + at * 60),
  )
  await rig.applyAll(
    candles.map((candle, at) => setOf(1_000 + at, putCandle(candle))),
    1,
  )
  const hashes = new ByteHashes()
  for (const key of (await rig.raw.keys('*')).sort()) await addKey(hashes, rig.raw, key)
  assertExpected('bytes-redis.csv', hashes.lines(), 'npm run test:integration -- redis-bytes')
})

async function addKey(hashes: ByteHashes, redis: Redis, key: string): Promise<void> {
  const kind = key.split(':')[1] ?? ''
  switch (await redis.type(key)) {
    case 'zset':
      hashes.add(kind, key, ...(await redis.zrange(key, '0', '-1', 'WITHSCORES')))
      break
    case 'hash': {
      const fields = Object.entries(await redis.hgetallBuffer(key)).sort(([a], [b]) => (a < b ? -1 : 1))
      for (const [field, value] of fields) {
        const [, part = 'latest'] = field.split(':')
        hashes.add(`${kind} ${part}`, key, field, value)
      }
      break
    }
    default:
      hashes.add(kind, key, (await redis.getBuffer(key)) ?? '')
  }
}
