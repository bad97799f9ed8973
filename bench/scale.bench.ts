import { openGateway, type Side } from './fanout.bench.ts'
import { sized } from './form.ts'
import type { Bench, Figure, Sides, SliceOutcome } from './measure.ts'
import { leaveServerCore } from './rest/measured-process.ts'
import type { Tick } from './sockets/pushed-trades.ts'

const SOCKETS = sized({ full: 1_000, short: 1_000, smoke: 40 })
const SINGLE: Tick = { ticks: 10, eventsPerTick: 1 }

/** Deliveries per CPU second when the same sockets are spread over several gateways. */
export const bench: Bench = { figures: [spreadOver(2, 0.85), spreadOver(4, 0.65)] }

/** Each gateway encodes every push once, so the fewer sockets it has, the more a delivery costs. */
function spreadOver(gateways: number, bar: number): Figure {
  return {
    name: `${SOCKETS} sockets over ${gateways} gateways / all of them at one`,
    bar,
    goal: 0.95,
    direction: 'at least',
    per: 'cpu second',
    open: async (): Promise<Sides> => {
      leaveServerCore()
      const subject: Side[] = []
      for (let gateway = 0; gateway < gateways; gateway++)
        subject.push(await openGateway(SINGLE, false, SOCKETS / gateways))
      const baseline = await openGateway(SINGLE, false, SOCKETS)
      return {
        subject: async (durationMs) =>
          added(await Promise.all(subject.map(({ slice }) => slice(durationMs)))),
        baseline: baseline.slice,
        close: async () => {
          for (const side of [...subject, baseline]) await side.close()
        },
      }
    },
  }
}

function added(outcomes: readonly SliceOutcome[]): SliceOutcome {
  const wrong = outcomes.find((outcome) => outcome.wrong !== undefined)?.wrong
  const sum = (of: (outcome: SliceOutcome) => number): number =>
    outcomes.reduce((total, outcome) => total + of(outcome), 0)
  return {
    units: sum(({ units }) => units),
    cpuSeconds: sum(({ cpuSeconds = Number.NaN }) => cpuSeconds),
    ...(wrong !== undefined && { wrong }),
  }
}
