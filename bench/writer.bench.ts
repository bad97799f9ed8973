import { type ChangesMessage, MeasuredFold } from './engine/measured-fold.ts'
import { parsedSwaps } from './engine/parsed-swaps.ts'
import { readRecordedSwaps } from './engine/recorded-swaps.ts'
import { sized } from './form.ts'
import type { Bench, Sides, SliceOutcome } from './measure.ts'
import { leaveServerCore } from './rest/measured-process.ts'
import { openRoles } from './roles/open-roles.ts'

const PAIRS = sized({ full: 10_000, short: 3_000, smoke: 200 })
const SWAPS_PER_SLICE = sized({ full: 4_000, short: 3_000, smoke: 200 })

/**
 * The writer's role from CHANGES to rows in ClickHouse and documents in Redis, by the CPU time of its own process: both servers
 * are real, but their time is not counted.
 */
export const bench: Bench = {
  figures: [
    {
      name: 'swaps written / JSON.parse of the full-form swap',
      bar: 0.08,
      goal: 0.15,
      direction: 'at least',
      per: 'cpu second',
      open,
    },
  ],
}

async function open(): Promise<Sides> {
  leaveServerCore()
  const fold = new MeasuredFold(readRecordedSwaps(), { pairs: PAIRS })
  fold.introduce()
  const baseline = parsedSwaps(fold.sampleTrades())
  const roles = await openRoles(['writer'])
  const publisher = await (await roles.logs.open('CHANGES', 'eth')).openPublisher()
  return {
    subject: async (): Promise<SliceOutcome> => {
      const messages: ChangesMessage[] = []
      let units = 0
      while (units < SWAPS_PER_SLICE) {
        for (const message of fold.foldBlock()) {
          messages.push(message)
          units += message.swaps
        }
      }
      fold.commit()
      const before = await roles.cpuSeconds()
      await Promise.all(messages.map(({ bytes }) => publisher.publish(bytes)))
      await roles.written(messages.at(-1)?.seq ?? 0)
      const cpuSeconds = (await roles.cpuSeconds()) - before
      const last = messages.findLast(({ swaps }) => swaps > 0)
      const wrong = await roles.complaint(last?.seq ?? 0, last?.swaps ?? 0)
      return { units, cpuSeconds, complete: true, ...(wrong !== undefined && { wrong }) }
    },
    baseline,
    close: async () => {
      await roles.stop()
      await fold.close()
    },
  }
}
