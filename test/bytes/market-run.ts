import { FIRST_RULES } from '../../src/domain/chain-settings.ts'
import type { ChangeSet } from '../../src/domain/change.ts'
import type { BlockEnvelope, BlockRef, Envelope, Fact } from '../../src/domain/envelope.ts'
import { type Action, buildBlock, CHAIN, settingsOf } from '../support/arbitraries/market-arbitraries.ts'
import { HOLDERS, LOCKERS, ZERO } from '../support/arbitraries/move-arbitraries.ts'
import { Dice } from '../support/builders/change-builders.ts'
import { buildInspection } from '../support/builders/envelope-builders.ts'
import { TOKEN, USDC, USDT, WETH, world } from '../support/builders/example-market.ts'
import { EngineRun, type EngineStore } from '../support/rigs/engine-run.ts'

const STEPS = 260
const OLD_BLOCKS = 12
const TOKENS = [USDC, USDT, WETH, TOKEN]
const DECIMALS = [6, 6, 18, 9, 18]

/** The messages of a small market with forks, and the change sets of an engine that folds them into `store`. */
export function runMarket(store: EngineStore): { envelopes: Envelope[]; sets: readonly ChangeSet[] } {
  const dice = new Dice(1)
  const run = new EngineRun(settingsOf({ ...world, rules: FIRST_RULES }), store)
  const envelopes: Envelope[] = []
  const chain: BlockEnvelope[] = []
  let floor = 0
  const apply = (envelope: Envelope): void => {
    envelopes.push(envelope)
    run.apply(envelope)
  }
  for (let step = 0; step < STEPS; step++) {
    const undoable = chain.filter(({ number }) => number > floor).length
    const roll = dice.below(20)
    if (roll === 0 && undoable > 1) {
      chain.splice(-1 - dice.below(Math.min(4, undoable - 1)))
      apply({ kind: 'undo', chain: CHAIN, lastValid: refOf(chain.at(-1) as BlockEnvelope) })
    } else if (roll === 1 && undoable > 6) {
      const upTo = refOf(chain.at(-6) as BlockEnvelope)
      floor = upTo.number
      apply({ kind: 'final', chain: CHAIN, upTo })
    } else {
      const block = nextBlock(dice, chain, step)
      chain.push(block)
      apply(block)
    }
    if (dice.below(4) === 0) run.commit()
  }
  run.commit()
  return { envelopes, sets: run.sets }
}

function nextBlock(dice: Dice, chain: readonly BlockEnvelope[], salt: number): BlockEnvelope {
  const seconds = dice.pick([0, 1, 12, 12, 59, 300, 4_000, 90_000])
  const isFirst = chain.length === 0
  const actions = isFirst
    ? world.pools.flatMap((_, pool): Action[] => [create(pool), sync(dice, pool)])
    : Array.from({ length: dice.below(6) }, () => action(dice)).flat()
  const step = {
    ...({ do: 'block', seconds, actions } as const),
    samples: dice.below(4) === 0 ? [{ of: dice.below(6), holder: dice.pick(HOLDERS), off: 0n }] : [],
    answers: dice.below(5) === 0 ? [{ of: dice.below(6), amounts: [5n, 6n, 7n], isComplete: true }] : [],
    older:
      dice.below(4) === 0
        ? [
            {
              of: dice.below(6),
              moves: [move(dice)],
              isLast: dice.below(3) === 0,
              since: 5,
              isImpossible: false,
            },
          ]
        : [],
  }
  const block = buildBlock(world, chain, step, salt)
  const facts = dice.below(6) === 0 ? [...block.facts, inspected(dice, block)] : block.facts
  return { ...block, facts, ...(chain.length < OLD_BLOCKS && { isOld: true }) }
}

function action(dice: Dice): Action[] {
  const pool = dice.below(world.pools.length)
  const roll = dice.below(10)
  if (roll < 5) return [sync(dice, pool), swap(dice, pool)]
  if (roll < 7)
    return [{ do: dice.pick(['mint', 'burn']), pool, amounts: amounts(dice, pool, 3), newTx: true }]
  return [
    {
      do: 'move',
      of: dice.below(8),
      form: dice.pick(['plain', 'plain', 'deposit']),
      move: move(dice),
      newTx: true,
    },
  ]
}

function create(pool: number): Action {
  return { do: 'create', pool, newTx: true }
}

function sync(dice: Dice, pool: number): Action {
  return { do: 'sync', pool, amounts: amounts(dice, pool, 6), newTx: true }
}

function swap(dice: Dice, pool: number): Action {
  const [first, second] = amounts(dice, pool, 2) as [bigint, bigint]
  return {
    do: 'swap',
    pool,
    amounts: dice.below(2) === 0 ? [first, 0n, 0n, second] : [0n, second, first, 0n],
    newTx: false,
  }
}

/** Some whole tokens of each side, up to so many digits. */
function amounts(dice: Dice, pool: number, digits: number): bigint[] {
  const { token0, token1 } = world.pools[pool] as (typeof world.pools)[number]
  return [token0, token1].map((token) => {
    const decimals = DECIMALS[TOKENS.indexOf(token)] ?? 18
    return BigInt(1 + dice.below(10 ** digits)) * 10n ** BigInt(decimals) + BigInt(dice.below(1_000))
  })
}

function move(dice: Dice) {
  const from = dice.below(2) === 0 ? ZERO : dice.pick(HOLDERS)
  return { from, to: dice.pick([...HOLDERS, ...LOCKERS]), amount: BigInt(1 + dice.below(10 ** 9)) }
}

function inspected(dice: Dice, { number, hash }: BlockEnvelope): Fact {
  const address = dice.pick(TOKENS)
  if (dice.below(5) === 0) return { type: 'inspectionFailure', address, block: number }
  const inspection = { ...buildInspection(dice), token: address, block: { number, hash } }
  return { type: 'inspection', address, inspection }
}

function refOf({ number, hash }: BlockRef): BlockRef {
  return { number, hash }
}
