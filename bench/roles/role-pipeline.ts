import { MadeMarket, poolOf } from '../engine/made-market.ts'
import { messageOf } from '../engine/measured-fold.ts'
import { readRecordedSwaps } from '../engine/recorded-swaps.ts'
import type { Slice, SliceOutcome } from '../measure.ts'
import { followPairs } from './follow-pairs.ts'
import { openRoles } from './open-roles.ts'

export type PipelinePlan = {
  readonly pairs: number
  readonly swapsPerSlice: number
  /** Chains on which nothing happens. */
  readonly idleChains?: number
}

export type RolePipeline = {
  /** From BLOCKS to rows, documents and pushes, by the CPU time of engine, writer and gateway together. */
  readonly slice: Slice
  /** Of these three together. */
  readonly residentBytes: () => number
  readonly close: () => Promise<void>
}

/** The busiest pairs: nearly half of all swaps are pushed. */
const FOLLOWED = Array.from({ length: 50 }, (_, pair) => poolOf(pair))

/** Engine, writer and gateway, each in its own process, and a client that follows the busiest pairs of a market. */
export async function openPipeline({
  pairs,
  swapsPerSlice,
  idleChains,
}: PipelinePlan): Promise<RolePipeline> {
  const market = new MadeMarket(readRecordedSwaps(), { pairs })
  const roles = await openRoles(['engine', 'writer', 'gateway'], idleChains)
  const publisher = await (await roles.logs.open('BLOCKS', 'eth')).openPublisher()
  const introduced = Array.from(market.introduction(), messageOf)
  const positions = await Promise.all(introduced.map(({ bytes }) => publisher.publish(bytes)))
  await roles.written(positions.at(-1)?.sequence ?? 0)
  const client = await followPairs(roles.gatewayPort, FOLLOWED)
  return {
    slice: async (): Promise<SliceOutcome> => {
      const envelopes = []
      let units = 0
      while (units < swapsPerSlice) {
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
    residentBytes: roles.residentBytes,
    close: async () => {
      client.close()
      await roles.stop()
    },
  }
}
