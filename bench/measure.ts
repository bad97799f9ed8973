import type { Form } from './form.ts'

/** The measuring rule: facts/performance.md, section 9.0; bench/README.md says it in short. */

export interface SliceOutcome {
  /** Work done in the slice; with `per: 'slice'` the measured value itself. */
  units: number
  /** What is wrong with the slice's output. One wrong slice and the figure scores 0. */
  wrong?: string
  /** False when the slice was cut short; the round is then discarded. True when its length does not matter. */
  complete?: boolean
  /** CPU time of the side, when it runs in another process than this one. */
  cpuSeconds?: number
}

/** Works for about durationMs and verifies its output before it returns, so that the check is timed too. */
export type Slice = (durationMs: number) => SliceOutcome | Promise<SliceOutcome>

export interface Sides {
  subject: Slice
  /** Left out where the bar is no ratio, but a time or a size: the subject's value is the figure. */
  baseline?: Slice
  close?: () => void | Promise<void>
}

export interface Figure {
  name: string
  bar: number
  goal: number
  direction: 'at least' | 'at most'
  /** 'slice' takes the units as they are, for latency or memory. */
  per: 'wall second' | 'cpu second' | 'slice'
  /** A time, not a ratio: means nothing on another machine. */
  isTime?: true
  /** Fewer rounds than the plan's, where a slice takes seconds and its value is no ratio. */
  maxRounds?: Pick<Plan, 'warmUpPairs' | 'pairs'>
  /** Starts subject and baseline; both stay alive until close. */
  open: () => Sides | Promise<Sides>
}

export interface Bench {
  figures: Figure[]
}

export interface Plan {
  form: Form
  sliceMs: number
  warmUpPairs: number
  pairs: number
}

export const plans: Readonly<Record<Form, Plan>> = {
  full: { form: 'full', sliceMs: 1000, warmUpPairs: 3, pairs: 15 },
  short: { form: 'short', sliceMs: 500, warmUpPairs: 2, pairs: 5 },
  smoke: { form: 'smoke', sliceMs: 40, warmUpPairs: 1, pairs: 3 },
}

export interface Clock {
  wallSeconds: () => number
  cpuSeconds: () => number
}

export const processClock: Clock = {
  wallSeconds: () => performance.now() / 1000,
  cpuSeconds: () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000_000
  },
}

export interface FigureResult {
  name: string
  /** Median of the pairwise ratios, subject over baseline. */
  ratio: number
  iqr: number
  /** Median of what the subject did per second: of this machine alone, for capacity planning. Not judged. */
  rate?: number
  bar: number
  goal: number
  direction: Figure['direction']
  isTime?: true
  pass: boolean
  pairs: number
  discarded: number
  /** Why the figure did not pass. */
  reason?: string
  /** How much worse it is than the figure that was kept, if that is too much. */
  fall?: string
}

export const maxSpread = 0.35

/** A slice that returned this early did not measure its time. */
const minSliceShare = 0.9

export async function measure(
  figure: Figure,
  wholePlan: Plan,
  clock: Clock = processClock,
  isDoubtful: (result: FigureResult) => boolean = () => false,
): Promise<FigureResult> {
  const plan = planOf(figure, wholePlan)
  const sides = await figure.open()
  try {
    const first = judge(figure, plan, await runPairs(figure, sides, plan, clock))
    if (!isDoubtful(first)) return first
    // The same sides, since opening them again may take longer than measuring.
    const second = judge(figure, plan, await runPairs(figure, sides, plan, clock))
    return betterOf(first, second)
  } finally {
    await sides.close?.()
  }
}

function planOf({ maxRounds }: Figure, wholePlan: Plan): Plan {
  if (maxRounds === undefined) return wholePlan
  return {
    ...wholePlan,
    warmUpPairs: Math.min(wholePlan.warmUpPairs, maxRounds.warmUpPairs),
    pairs: Math.min(wholePlan.pairs, maxRounds.pairs),
  }
}

function betterOf(first: FigureResult, second: FigureResult): FigureResult {
  if (first.pass !== second.pass) return first.pass ? first : second
  const isSecond = second.direction === 'at least' ? second.ratio > first.ratio : second.ratio < first.ratio
  return isSecond ? second : first
}

export interface Series {
  ratios: number[]
  /** The subject's own value in each of these pairs. */
  rates?: number[]
  discarded: number
  wrong: string | undefined
}

async function runPairs(figure: Figure, sides: Sides, plan: Plan, clock: Clock): Promise<Series> {
  const rates: number[] = []
  const series: Series = { ratios: [], rates, discarded: 0, wrong: undefined }
  // Discarding must stay the exception: a bench that mostly throws its rounds away measures its luck.
  for (let round = 0; series.ratios.length < plan.pairs && series.discarded < plan.pairs; round++) {
    const isSubjectFirst = round % 2 === 0
    const order = isSubjectFirst ? (['subject', 'baseline'] as const) : (['baseline', 'subject'] as const)
    const values = { subject: 0, baseline: 0 }
    let isComplete = true
    for (const side of order) {
      const slice = sides[side]
      if (slice === undefined) {
        values[side] = 1
        continue
      }
      const measured = await runSlice(slice, figure.per, plan.sliceMs, clock)
      if (measured.wrong !== undefined) return { ...series, wrong: `${side} is wrong: ${measured.wrong}` }
      values[side] = measured.value
      isComplete &&= measured.isComplete
    }
    if (round < plan.warmUpPairs) continue
    const ratio = values.subject / values.baseline
    // A side that did nothing did not take part in the round.
    if (isComplete && ratio > 0 && Number.isFinite(ratio)) {
      series.ratios.push(ratio)
      rates.push(values.subject)
    } else series.discarded++
  }
  return series
}

async function runSlice(slice: Slice, per: Figure['per'], sliceMs: number, clock: Clock) {
  const wallStart = clock.wallSeconds()
  const cpuStart = clock.cpuSeconds()
  const outcome = await slice(sliceMs)
  const cpu = outcome.cpuSeconds ?? clock.cpuSeconds() - cpuStart
  const wall = clock.wallSeconds() - wallStart
  const divisor = { 'wall second': wall, 'cpu second': cpu, slice: 1 }[per]
  return {
    value: outcome.units / divisor,
    isComplete: outcome.complete ?? wall * 1000 >= sliceMs * minSliceShare,
    wrong: outcome.wrong,
  }
}

export function judge(figure: Figure, plan: Plan, series: Series): FigureResult {
  const { name, bar, goal, direction, isTime } = figure
  const isMeasured = series.wrong === undefined && series.ratios.length > 0
  const ratio = isMeasured ? quantile(series.ratios, 0.5) : 0
  const iqr = isMeasured ? quantile(series.ratios, 0.75) - quantile(series.ratios, 0.25) : 0
  const reason = series.wrong ?? complaint(figure, plan, series, ratio, iqr)
  const counts = { pairs: series.ratios.length, discarded: series.discarded }
  const kind = isTime && { isTime }
  const rate = isMeasured && figure.per !== 'slice' && series.rates && { rate: quantile(series.rates, 0.5) }
  const found = { name, ratio, iqr, bar, goal, direction, ...kind, ...rate }
  const result = { ...found, pass: reason === undefined, ...counts }
  return reason === undefined ? result : { ...result, reason }
}

function complaint({ bar, direction }: Figure, plan: Plan, series: Series, ratio: number, iqr: number) {
  if (series.ratios.length < plan.pairs) {
    return `only ${series.ratios.length} of ${plan.pairs} rounds were complete (${series.discarded} discarded)`
  }
  if (plan.form !== 'full') return undefined
  if (iqr / ratio > maxSpread) return `too noisy: IQR ${iqr.toFixed(3)} is over ${maxSpread} of the median`
  const holds = direction === 'at least' ? ratio >= bar : ratio <= bar
  return holds ? undefined : `${ratio.toFixed(3)} is not ${direction} ${bar}`
}

/** Linear between the neighbours, as numpy and R do by default. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const position = (sorted.length - 1) * share
  const below = sorted[Math.floor(position)] ?? Number.NaN
  const above = sorted[Math.ceil(position)] ?? Number.NaN
  return below + (above - below) * (position - Math.floor(position))
}

/** A slice that repeats a synchronous batch, which returns its units, until the time is up. */
export function repeat(
  batch: () => number,
  verify: () => string | undefined,
  clock: Clock = processClock,
): Slice {
  return (durationMs) => {
    const end = clock.wallSeconds() + durationMs / 1000
    let units = 0
    do units += batch()
    while (clock.wallSeconds() < end)
    return outcomeOf(units, verify())
  }
}

export function repeatAsync(
  batch: () => Promise<number>,
  verify: () => string | undefined | Promise<string | undefined>,
  clock: Clock = processClock,
): Slice {
  return async (durationMs) => {
    const end = clock.wallSeconds() + durationMs / 1000
    let units = 0
    do units += await batch()
    while (clock.wallSeconds() < end)
    return outcomeOf(units, await verify())
  }
}

/** Opened by the first figure that needs it, and closed after the last: where it takes longer to open than to measure. */
export function openOnce<T>(
  figures: number,
  open: () => Promise<T>,
  close: (opened: T) => Promise<void>,
): { open(): Promise<T>; close(): Promise<void> } {
  let opened: Promise<T> | undefined
  let left = figures
  return {
    open: () => {
      opened ??= open()
      return opened
    },
    close: async () => {
      if (--left === 0 && opened !== undefined) await close(await opened)
    },
  }
}

/** Values that the slices of another figure recorded, as a figure of their own: measured once, judged twice. */
export function recordedValues(values: readonly number[]): Slice {
  let next = 0
  return () => ({ units: values[next++ % values.length] ?? 0, complete: true })
}

function outcomeOf(units: number, wrong: string | undefined): SliceOutcome {
  return wrong === undefined ? { units } : { units, wrong }
}
