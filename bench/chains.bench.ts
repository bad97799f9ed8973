import { setTimeout as sleep } from 'node:timers/promises'
import type { LogPosition } from '../src/domain/log-position.ts'
import { MadeMarket } from './engine/made-market.ts'
import { type BlockMessage, messageOf } from './engine/measured-fold.ts'
import { type RecordedSwaps, readRecordedSwaps } from './engine/recorded-swaps.ts'
import { sized } from './form.ts'
import type { Bench, Figure, Sides, Slice } from './measure.ts'
import { leaveServerCore } from './rest/measured-process.ts'
import { openRoles } from './roles/open-roles.ts'

/** A figure takes minutes with many chains, so the full form has one. */
const COUNTS = sized({ full: [50], short: [2, 5], smoke: [2, 3] })
const BLOCKS = Math.max(...COUNTS)
/** The sum over all chains. */
const PAIRS = sized({ full: 5_000, short: 3_000, smoke: 60 })
const IDLE_SECONDS = sized({ full: 10, short: 5, smoke: 0.1 })

/**
 * Swaps per CPU second of engine, writer and gateway, from BLOCKS to rows, when the same number of blocks and pairs is spread
 * over many chains. All chains are in the same three processes.
 */
export const bench: Bench = { figures: COUNTS.map(spreadOver) }

function spreadOver(chains: number): Figure {
  return {
    name: `swaps of ${chains} chains / as many of one chain`,
    ...{ bar: 0.4, goal: 0.9, direction: 'at least', per: 'cpu second' },
    // A slice takes seconds.
    maxRounds: { warmUpPairs: 1, pairs: 3 },
    open: async (): Promise<Sides> => {
      leaveServerCore()
      const recorded = readRecordedSwaps()
      const one = await openSide(recorded, 1)
      const all = await openSide(recorded, chains)
      return {
        subject: all.slice,
        baseline: one.slice,
        close: async () => {
          for (const side of [one, all]) await side.close()
        },
      }
    },
  }
}

type Side = { readonly slice: Slice; readonly close: () => Promise<void> }

async function openSide(recorded: RecordedSwaps, count: number): Promise<Side> {
  const names = ['eth', ...Array.from({ length: count - 1 }, (_, at) => `copy${at + 1}`)]
  const roles = await openRoles(['engine', 'writer', 'gateway'], names)
  const chains = await Promise.all(
    names.map(async (name) => {
      const market = new MadeMarket(recorded, { pairs: Math.ceil(PAIRS / count), chain: name })
      const publisher = await (await roles.logs.open('BLOCKS', name)).openPublisher()
      const publish = async (messages: readonly BlockMessage[]): Promise<readonly LogPosition[]> =>
        await Promise.all(messages.map(({ bytes }) => publisher.publish(bytes)))
      const introduced = await publish(Array.from(market.introduction(), messageOf))
      return { name, market, publish, end: introduced.at(-1)?.sequence ?? 0 }
    }),
  )
  for (const { name, end } of chains) await roles.written(end, name)
  const idleFrom = await roles.cpuSeconds()
  await sleep(IDLE_SECONDS * 1_000)
  const idle = ((await roles.cpuSeconds()) - idleFrom) / IDLE_SECONDS
  console.log(
    `${count} chains on which nothing happens: ${(idle * 1_000).toFixed(1)} ms of CPU time a second`,
  )
  return {
    slice: async () => {
      // One block of each chain, or as many of one.
      const blocks = chains.map((chain) => ({
        ...chain,
        messages: Array.from({ length: Math.ceil(BLOCKS / count) }, () =>
          Array.from(chain.market.next(), messageOf),
        ).flat(),
      }))
      const before = await roles.cpuSeconds()
      const last = await Promise.all(
        blocks.map(async ({ name, messages, publish }) => {
          const positions = await publish(messages)
          const at = messages.findLastIndex(({ swaps }) => swaps > 0)
          const seq = positions[at]?.sequence ?? 0
          return { name, seq, swaps: messages[at]?.swaps ?? 0, end: positions.at(-1)?.sequence ?? 0 }
        }),
      )
      // One after the other: looking at all of them at once would keep the stores busier than the roles do.
      for (const { name, end } of last) await roles.written(end, name)
      const cpuSeconds = (await roles.cpuSeconds()) - before
      const complaints = last.map(({ name, seq, swaps }) => roles.complaint(seq, swaps, name))
      const wrong = (await Promise.all(complaints)).find((complaint) => complaint !== undefined)
      const units = blocks.flatMap(({ messages }) => messages).reduce((sum, { swaps }) => sum + swaps, 0)
      return { units, cpuSeconds, complete: true, ...(wrong !== undefined && { wrong }) }
    },
    close: () => roles.stop(),
  }
}
