import { MadeMarket, poolOf } from './engine/made-market.ts'
import { MeasuredFold, messageOf } from './engine/measured-fold.ts'
import { parsedSwaps } from './engine/parsed-swaps.ts'
import { readRecordedSwaps } from './engine/recorded-swaps.ts'
import { sized } from './form.ts'
import type { Bench, Sides, SliceOutcome } from './measure.ts'
import { leaveServerCore } from './rest/measured-process.ts'
import { followPairs } from './roles/follow-pairs.ts'
import { openRoles } from './roles/open-roles.ts'

const PAIRS = sized({ full: 10_000, short: 3_000, smoke: 200 })
const SWAPS_PER_SLICE = sized({ full: 4_000, short: 3_000, smoke: 200 })
/** The busiest pairs: nearly half of all swaps are pushed. */
const FOLLOWED = Array.from({ length: 50 }, (_, pair) => poolOf(pair))

/**
 * From BLOCKS to rows, documents and pushes: engine, writer and gateway, each in its own process, by the total CPU time
 * of all three. NATS, Redis and ClickHouse are real, but their time is not counted.
 */
export const bench: Bench = {
  figures: [
    {
      name: 'swaps from BLOCKS to rows and pushes / JSON.parse of the full-form swap',
      bar: 0.025,
      goal: 0.05,
      direction: 'at least',
      per: 'cpu second',
      open,
    },
  ],
}

async function open(): Promise<Sides> {
  leaveServerCore()
  const recorded = readRecordedSwaps()
  const market = new MadeMarket(recorded, { pairs: PAIRS })
  const roles = await openRoles(['engine', 'writer', 'gateway'])
  const publisher = await (await roles.logs.open('BLOCKS', 'eth')).openPublisher()
  const introduced = Array.from(market.introduction(), messageOf)
  const positions = await Promise.all(introduced.map(({ bytes }) => publisher.publish(bytes)))
  await roles.written(positions.at(-1)?.sequence ?? 0)
  const client = await followPairs(roles.gatewayPort, FOLLOWED)
  return {
    subject: async (): Promise<SliceOutcome> => {
      const envelopes = []
      let units = 0
      while (units < SWAPS_PER_SLICE) {
        for (const envelope of market.next()) {
          envelopes.push(envelope)
          if (envelope.kind === 'block') units += envelope.transactions.length
        }
      }
      const pushes = client.expect(envelopes)
      const before = await roles.cpuSeconds()
      const published = await Promise.all(
        envelopes.map((envelope) => publisher.publish(messageOf(envelope).bytes)),
      )
      await roles.written(published.at(-1)?.sequence ?? 0)
      const missing = await pushes
      const cpuSeconds = (await roles.cpuSeconds()) - before
      const last = envelopes.findLastIndex(({ kind }) => kind === 'block')
      const swaps = messageOf(envelopes[last] as (typeof envelopes)[0]).swaps
      const wrong = missing ?? (await roles.complaint(published[last]?.sequence ?? 0, swaps))
      return { units, cpuSeconds, complete: true, ...(wrong !== undefined && { wrong }) }
    },
    baseline: parsedSwaps(await sampleTrades()),
    close: async () => {
      client.close()
      await roles.stop()
    },
  }
}

async function sampleTrades() {
  const fold = new MeasuredFold(readRecordedSwaps(), { pairs: 500 })
  fold.introduce()
  const trades = fold.sampleTrades()
  await fold.close()
  return trades
}
