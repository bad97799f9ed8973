import { sized } from './form.ts'
import type { Bench, Sides } from './measure.ts'
import { openGateway } from './rest/gateway.ts'
import { leaveServerCore } from './rest/measured-process.ts'
import { openBareHop, openGatewayHop, openPace, type Pace, SWAPS_PER_BLOCK } from './sockets/pushed-blocks.ts'

const USUAL = { blocksPerSecond: 2_000 / SWAPS_PER_BLOCK, share: 0.5 }
/** One second has too few blocks for a p99; the first seconds are warm-up. */
const BUSY = { blocksPerSecond: 5_000 / SWAPS_PER_BLOCK, share: 0.99, ofAllSince: 2 }
/** So that there are some hundreds before anything is measured. */
const RUN_UP_SECONDS = sized({ full: 8, short: 5, smoke: 0 })

/** From the publishing of a block to the last byte of its pushes at a client, through a gateway that runs. */
export const bench: Bench = {
  figures: [
    {
      name: 'p50 of publish to client at 2,000 swaps/s / bare JetStream hop of the same bytes',
      bar: 4,
      goal: 2,
      direction: 'at most',
      per: 'slice',
      open: () => openHops(USUAL, 0),
    },
    {
      name: 'p99 of publish to client at 5,000 swaps/s / p99 of the bare JetStream hop of the same bytes',
      bar: 5,
      goal: 2.5,
      direction: 'at most',
      per: 'slice',
      open: () => openHops(BUSY, RUN_UP_SECONDS),
    },
  ],
}

async function openHops(pace: Pace, runUpSeconds: number): Promise<Sides> {
  leaveServerCore()
  const gateway = await openGateway()
  const subject = await openPace((onArrived) => openGatewayHop(gateway, onArrived), pace)
  const baseline = await openPace((onArrived) => openBareHop(gateway, onArrived), pace)
  for (let second = 0; second < runUpSeconds; second++) {
    for (const { slice } of [subject, baseline]) await slice(1_000)
  }
  return {
    subject: subject.slice,
    baseline: baseline.slice,
    close: async () => {
      const [ours, bare] = [subject, baseline].map(({ latestMs }) => latestMs().toFixed(1))
      console.log(
        `p${pace.share * 100} at ${pace.blocksPerSecond * SWAPS_PER_BLOCK} swaps/s: ${ours} ms, bare hop ${bare} ms`,
      )
      await subject.close()
      await baseline.close()
      await gateway.stop()
    },
  }
}
