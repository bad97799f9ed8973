import { type Bench, one, type Sides } from './measure.ts'
import { openGateway } from './rest/gateway.ts'
import { leaveServerCore } from './rest/measured-process.ts'
import { openBareHop, openGatewayHop, openPace, SWAPS_PER_BLOCK } from './sockets/pushed-blocks.ts'

const isSmoke = process.argv.includes('--smoke')
const USUAL = { blocksPerSecond: 2_000 / SWAPS_PER_BLOCK, share: 0.5 }
/** A second has too few blocks to tell the slowest of a hundred; the first seconds are those of a gateway just started. */
const BUSY = { blocksPerSecond: 5_000 / SWAPS_PER_BLOCK, share: 0.99, ofAllSince: 4 }
/** So that there are some hundreds before anything is measured. */
const RUN_UP_SECONDS = 12

/** From the publishing of a block to the last byte of its pushes at a client, through a gateway that runs. */
export const bench: Bench = {
  figures: [
    {
      name: 'p50 of publish to client at 2,000 swaps/s / bare JetStream hop of the same bytes',
      bar: 4,
      goal: 2,
      direction: 'at most',
      per: 'slice',
      open: openUsual,
    },
    {
      name: 'p99 of publish to client at 5,000 swaps/s / a millisecond',
      bar: 25,
      goal: 10,
      direction: 'at most',
      per: 'slice',
      open: openBusy,
    },
  ],
}

async function openUsual(): Promise<Sides> {
  leaveServerCore()
  const gateway = await openGateway()
  const subject = await openPace((onArrived) => openGatewayHop(gateway, onArrived), USUAL)
  const baseline = await openPace((onArrived) => openBareHop(gateway, onArrived), USUAL)
  return {
    subject: subject.slice,
    baseline: baseline.slice,
    close: async () => {
      await subject.close()
      await baseline.close()
      await gateway.stop()
    },
  }
}

async function openBusy(): Promise<Sides> {
  leaveServerCore()
  const gateway = await openGateway()
  const subject = await openPace((onArrived) => openGatewayHop(gateway, onArrived), BUSY)
  for (let second = 0; second < RUN_UP_SECONDS && !isSmoke; second++) await subject.slice(1_000)
  return {
    subject: subject.slice,
    // The bar is a time, not a ratio.
    baseline: one,
    close: async () => {
      await subject.close()
      await gateway.stop()
    },
  }
}
