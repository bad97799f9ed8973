import fc from 'fast-check'
import type { BlockEnvelope, BlockRef, Envelope, Fact, RawLog } from '../../../src/domain/envelope.ts'
import { Random } from '../../fuzz/random.ts'
import { creationLog, randomLog } from '../../sim/engine/pool-logs.ts'
import type { SimPool } from '../../sim/engine/protocol-logs/pool-kind.ts'
import { CHAIN, SimMarket } from '../../sim/engine/sim-market.ts'
import { randomAnswer, randomMove, randomPast, randomSample } from '../../sim/engine/token-moves.ts'
import { inspection } from '../arbitraries/contract-arbitraries.ts'

/**
 * Random chains of a market with pools of every protocol, and random moments at which their consumer commits, restarts
 * or starts again from its last commit. Contents follow from seeds, so that shrinking removes steps and events.
 */

const FIRST_BLOCK = 100
const FIRST_TIME = 1_699_999_990
const WALLETS = [0xe1, 0xe2, 0xe3, 0xe4, 0xe5].map((value) => id(value, 20))

export type Interruption = 'commit' | 'restart' | 'crash' | 'abandon'

/** Messages that no reader sends, and what is wrong with them. */
export const DEFECTS = [
  'undo of nothing',
  'undo below final',
  'undo to another block',
  'block of another parent',
  'block again',
  'final too early',
] as const

type BlockStep = {
  readonly do: 'block'
  /** A quarantined block keeps its place in the chain; one that cannot be decoded leaves a gap. */
  readonly fate: 'apply' | 'skip' | 'unreadable'
  readonly seconds: number
  readonly events: readonly number[]
  readonly facts: readonly number[]
}

export type ScriptStep =
  | BlockStep
  | { readonly do: 'undo'; readonly depth: number; readonly fate: 'apply' | 'skip' }
  | { readonly do: 'redo' }
  | { readonly do: 'final'; readonly lag: number; readonly fate: 'apply' | 'skip' }
  | { readonly do: 'defect'; readonly defect: (typeof DEFECTS)[number] }
  | { readonly do: 'interrupt'; readonly how: Interruption }

/** What a consumer of BLOCKS meets, in order. */
export type Occurrence =
  | {
      readonly type: 'message'
      readonly envelope: Envelope
      readonly fate: 'apply' | 'skip' | 'unreadable' | 'reject'
    }
  | { readonly type: 'interruption'; readonly how: Interruption }

const seed = fc.noShrink(fc.nat())
const rarely = <Usual, Rare>(usual: Usual, ...rare: Rare[]) =>
  fc.oneof({ weight: 30, arbitrary: fc.constant(usual) }, fc.constantFrom(...rare))

const blockStep: fc.Arbitrary<BlockStep> = fc.record({
  do: fc.constant('block' as const),
  fate: rarely('apply' as const, 'skip' as const, 'unreadable' as const),
  seconds: fc.constantFrom(0, 1, 12, 12, 59, 60, 300, 3_000, 20_000, 86_400, 700_000),
  events: fc.array(seed, { maxLength: 12, size: 'max' }),
  facts: fc.array(seed, { maxLength: 3, size: 'max' }),
})

const step: fc.Arbitrary<ScriptStep> = fc.oneof(
  { weight: 12, arbitrary: blockStep },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('undo' as const),
      depth: fc.integer({ min: 1, max: 6 }),
      fate: rarely('apply' as const, 'skip' as const),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'redo' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('final' as const),
      lag: fc.nat(5),
      fate: rarely('apply' as const, 'skip' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('defect' as const), defect: fc.constantFrom(...DEFECTS) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('interrupt' as const),
      how: fc.constantFrom<Interruption>('commit', 'commit', 'restart', 'crash', 'abandon'),
    }),
  },
)

export type MarketScript = { readonly seed: number; readonly steps: readonly ScriptStep[] }

export const marketScript: fc.Arbitrary<MarketScript> = fc.record({
  seed,
  steps: fc.array(step, { minLength: 3, maxLength: 40, size: 'max' }),
})

export function marketOf({ seed }: MarketScript): SimMarket {
  return new SimMarket(new Random(seed), FIRST_BLOCK)
}

/** Plays a script as a reader would: each fact once per branch, nothing undone below what is final. */
export function occurrences(market: SimMarket, { steps }: MarketScript): Occurrence[] {
  const all: Occurrence[] = []
  const branch: BlockEnvelope[] = []
  let undone: BlockEnvelope[] = []
  let floor = FIRST_BLOCK - 1
  for (const [salt, step] of steps.entries()) {
    const tip = refOf(branch.at(-1))
    switch (step.do) {
      case 'block': {
        const envelope = blockOn(market, branch, step, salt)
        branch.push(envelope)
        all.push({ type: 'message', envelope, fate: step.fate })
        break
      }
      case 'undo': {
        const depth = Math.min(step.depth, tip.number - floor)
        if (depth === 0) break
        undone = branch.splice(-depth)
        const lastValid = refOf(branch.at(-1))
        all.push({ type: 'message', envelope: { kind: 'undo', chain: CHAIN, lastValid }, fate: step.fate })
        break
      }
      case 'redo': {
        if (undone[0]?.parentHash !== tip.hash) break
        branch.push(...undone)
        all.push(...undone.map((envelope) => ({ type: 'message', envelope, fate: 'apply' }) as const))
        break
      }
      case 'final': {
        const block = branch.at(-1 - step.lag)
        if (block === undefined) break
        floor = Math.max(floor, block.number)
        const envelope = { kind: 'final', chain: CHAIN, upTo: refOf(block) } as const
        all.push({ type: 'message', envelope, fate: step.fate })
        break
      }
      case 'defect': {
        const envelope = defective(step.defect, branch, floor)
        if (envelope !== undefined) all.push({ type: 'message', envelope, fate: 'reject' })
        break
      }
      case 'interrupt':
        all.push({ type: 'interruption', how: step.how })
    }
  }
  return all
}

function blockOn(
  market: SimMarket,
  branch: readonly BlockEnvelope[],
  { seconds, events, facts }: BlockStep,
  salt: number,
): BlockEnvelope {
  const parent = refOf(branch.at(-1))
  const number = parent.number + 1
  const transactions: { index: number; hash: string; from: string; logs: RawLog[] }[] = []
  const used: SimPool[] = []
  let index = 0
  for (const each of events) {
    const random = new Random(each)
    if (transactions.length === 0 || random.chance(0.5)) {
      const at = transactions.length * 2
      const hash = id(number * 1_000_000 + salt * 1_000 + at, 32)
      transactions.push({ index: at, hash, from: random.pick(WALLETS), logs: [] })
    }
    for (const log of logsOf(market, random, used)) transactions.at(-1)?.logs.push({ ...log, index: index++ })
  }
  const met = branch.flatMap((block) => block.facts).filter(({ type }) => type === 'pool' || type === 'token')
  const block: BlockEnvelope = {
    kind: 'block',
    chain: CHAIN,
    number,
    hash: id(number * 1_000 + salt + 1, 32),
    parentHash: parent.hash,
    time: (branch.at(-1)?.time ?? FIRST_TIME) + seconds,
    transactions,
    facts: market.factsOf(used, new Set(met.map(({ address }) => address))),
  }
  let whole = block
  for (const each of facts) {
    const fact = randomFact(market, new Random(each), branch, whole)
    if (fact !== undefined) whole = { ...whole, facts: [...whole.facts, fact] }
  }
  return whole
}

/** Pools that are named go to `used`. */
function logsOf(market: SimMarket, random: Random, used: SimPool[]): RawLog[] {
  if (random.chance(0.3)) return randomMove(random, random.pick(market.movable))
  const pool = random.pick(market.pools)
  used.push(pool)
  const created = random.chance(0.1) ? creationLog(random, pool) : undefined
  return [created ?? randomLog(random, pool)]
}

function randomFact(
  market: SimMarket,
  random: Random,
  branch: readonly BlockEnvelope[],
  block: BlockEnvelope,
): Fact | undefined {
  const roll = random.below(12)
  const token = random.pick(market.tokens)
  if (roll < 4) return randomPast(random, branch)
  if (roll < 6) return randomSample(random, [...branch, block], random.pick(market.movable), market.settings)
  if (roll < 7) return randomAnswer(random, random.pick(market.movable))
  if (roll < 8) return { type: 'inspectionFailure', address: token, block: block.number }
  if (roll < 9) return randomState(random, random.pick(market.pools).address)
  if (roll < 10) return randomLaunch(market, random, token, block)
  const [drawn] = fc.sample(inspection, { seed: random.below(2 ** 30), numRuns: 1 })
  return drawn && { type: 'inspection', address: token, inspection: { ...drawn, token } }
}

/** Any exchange may be its platform, and any time its own: the fold refuses most of them. */
function randomLaunch(market: SimMarket, random: Random, token: string, block: BlockEnvelope): Fact {
  const time = (): number | undefined => random.pick([undefined, 1, block.time, block.time + 1, 2 ** 40])
  const { factory } = random.pick(market.deployments)
  const number = random.below(block.number + 1)
  return { type: 'launch', address: token, factory, block: number, createdAt: time(), graduatedAt: time() }
}

function randomState(random: Random, address: string): Fact {
  const amount = (): bigint => BigInt(random.below(2 ** 30)) ** BigInt(random.below(4) + 1)
  const reserves = random.chance(0.2) ? undefined : [amount(), amount()]
  const price = random.pick([
    undefined,
    { kind: 'sqrt', sqrtPriceX96: 2n ** 96n + amount(), tick: random.below(1_000) },
    { kind: 'bin', id: 2 ** 23 + random.below(100) },
    { kind: 'exchange', raw0: amount(), raw1: amount() },
  ] as const)
  return { type: 'poolState', address, reserves, price }
}

function defective(
  defect: (typeof DEFECTS)[number],
  branch: readonly BlockEnvelope[],
  floor: number,
): Envelope | undefined {
  const last = branch.at(-1)
  if (last === undefined) return undefined
  const { number, hash } = last
  const stray = id(0x5a, 32)
  const undoTo = (lastValid: BlockRef) => ({ kind: 'undo', chain: CHAIN, lastValid }) as const
  switch (defect) {
    case 'undo of nothing':
      return undoTo({ number, hash })
    case 'undo below final':
      return undoTo({ number: floor - 1, hash: stray })
    case 'undo to another block':
      return undoTo({ number: number - 1, hash: stray })
    case 'block of another parent':
      return { ...last, number: number + 1, hash: stray, parentHash: stray }
    case 'block again':
      return last
    case 'final too early':
      return { kind: 'final', chain: CHAIN, upTo: { number: number + 1, hash: stray } }
  }
}

function refOf(block: BlockEnvelope | undefined): BlockRef {
  return block === undefined
    ? { number: FIRST_BLOCK - 1, hash: id(0x9e, 32) }
    : { number: block.number, hash: block.hash }
}

function id(value: number, size: number): string {
  return `0x${value.toString(16).padStart(size * 2, '0')}`
}

/** The story with settings at these places, counted from its start. */
export function withSettings(
  market: SimMarket,
  story: readonly Occurrence[],
  changes: readonly { readonly at: number; readonly seed: number }[],
): Occurrence[] {
  const all = [...story]
  for (const { at, seed } of changes) {
    const settings = market.otherSettings(new Random(seed))
    const envelope = { kind: 'settings', chain: CHAIN, settings } as const
    all.splice(at % (all.length + 1), 0, { type: 'message', envelope, fate: 'apply' })
  }
  return all
}

export const settingsChanges = fc.array(fc.record({ at: fc.nat(60), seed }), {
  minLength: 1,
  maxLength: 5,
  size: 'max',
})
