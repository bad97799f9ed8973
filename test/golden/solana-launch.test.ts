import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DexRegistry } from '../../src/dex/registry.ts'
import { meteoraDbc } from '../../src/dex/solana/meteora-dbc/protocol.ts'
import { knownPrograms } from '../../src/dex/solana/protocols.ts'
import { rawLogsOf } from '../../src/dex/solana/raw-logs.ts'
import { raydiumLaunchLab } from '../../src/dex/solana/raydium-launchlab/protocol.ts'
import type { Change, ChangeSet } from '../../src/domain/change.ts'
import { formatPrice } from '../../src/domain/money.ts'
import { newPair } from '../../src/engine/first-records.ts'
import { platformAfter } from '../../src/engine/launch/platform.ts'
import type { Pool } from '../../src/engine/pool/pool.ts'
import { BRAVO, NAMES, SolanaScenario } from '../e2e/solana-scenario.ts'
import { buyPump, pumpCurve } from '../support/builders/pump-transactions.ts'
import { LAB_PLATFORM, RAYDIUM_LAUNCHLAB } from '../support/builders/raydium-transactions.ts'
import { SOL } from '../support/builders/solana-accounts.ts'
import { allSolanaTransactions, hasSolanaRecordings } from '../support/recorded/recorded-solana.ts'
import { SOLANA_DEPLOYMENTS } from '../support/recorded/solana-programs.ts'
import { SOLANA_ENGINE_DEPLOYMENTS, SolanaEngine, solanaSettings } from '../support/rigs/solana-engine.ts'
import { base58Of } from '../support/rigs/solana-ledger.ts'

/** The transactions are synthetic: made from the published layouts of the programs, on accounts that add up. */

/** As announced: without a goal. */
const CURVE: Pool & { tokens: [string, string] } = {
  ...{ address: '', factory: '', tokens: ['a', 'b'], pricing: { kind: 'sqrtPrice' }, goalRaw: undefined },
}

function changesOf<Type extends Change['type']>({ changes }: ChangeSet, type: Type) {
  return changes.filter((change): change is Extract<Change, { type: Type }> => change.type === type)
}

function scenario(blocks: number): SolanaScenario {
  const made = new SolanaScenario()
  made.open()
  made.trade(blocks, 0)
  return made
}

describe('a curve of Pump.fun', () => {
  test('has its platform, progress and price from its creation on', () => {
    const made = scenario(0)
    const engine = SolanaEngine.of(made.market)
    const bravo = engine.token(NAMES.bravo)
    const { header } = made.market.canonical().at(-1) ?? assert.fail()
    assert.deepEqual(bravo.platform, {
      ...{ name: 'pump', createdAt: header.time, progressPpm: 0, graduatedAt: undefined },
    })
    const curve = made.market.accounts.pool(NAMES.bravoCurve)
    const pair = engine.pair(NAMES.bravoCurve)
    assert.deepEqual([pair.amm, pair.token0.reserveRaw, pair.token1.reserveRaw], ['pump', ...curve.reserves])
    assert.deepEqual([bravo.mainPair, pair.targetToken], [NAMES.bravoCurve, NAMES.bravo])
  })

  test('is priced by its virtual reserves, in dollars by the deepest pool of SOL', () => {
    const made = scenario(12)
    const engine = SolanaEngine.of(made.market)
    const curve = made.market.accounts.pool(NAMES.bravoCurve)
    const [tokens, lamports] = (curve.virtual ?? assert.fail()).map(Number) as [number, number]
    // Six decimals of the token, nine of SOL.
    const inSol = lamports / 1e9 / (tokens / 1e6)
    const dollars = made.market.accounts.pool(NAMES.dollarPool)
    const solPlace = dollars.tokens[0] === 'So11111111111111111111111111111111111111112' ? 0 : 1
    const solUsd = Number(dollars.reserves[1 - solPlace]) / 1e6 / (Number(dollars.reserves[solPlace]) / 1e9)
    const { token0 } = engine.pair(NAMES.bravoCurve)
    assertNear(Number(formatPrice(token0.priceNative ?? 0n)), inSol, 1e-6)
    assertNear(Number(formatPrice(token0.priceUsd ?? 0n)), inSol * solUsd, 0.02)
  })

  test('progresses by what it has raised', () => {
    const made = scenario(20)
    const engine = SolanaEngine.of(made.market)
    const { reserves, virtual = [0n, 0n] } = made.market.accounts.pool(NAMES.bravoCurve)
    const goal = reserves[1] + (virtual[0] * virtual[1]) / (virtual[0] - reserves[0]) - virtual[1]
    const progress = engine.token(NAMES.bravo).platform?.progressPpm ?? assert.fail()
    assert.ok(progress > 0)
    assertNear(progress, (Number(reserves[1]) / Number(goal)) * 1e6, 1e-3)
  })

  test('is complete with its last purchase, keeps the price, and is left for the pool of its migration', () => {
    const made = scenario(10)
    made.graduate()
    const { market } = made
    const blocks = market.canonical()
    const engine = new SolanaEngine((mint) => {
      const { decimals, supply } = market.accounts.snapshot().mints.get(mint) ?? assert.fail()
      return { decimals, supplyRaw: supply }
    })
    const sets = blocks.map((block) => engine.foldMarketBlock(block))
    const [complete, migration] = sets.slice(-2) as [ChangeSet, ChangeSet]
    const alfaAfter = (set: ChangeSet) =>
      changesOf(set, 'token').find(({ token }) => token.address === NAMES.alfa)?.token ?? assert.fail()

    const completed = alfaAfter(complete)
    assert.deepEqual(
      [completed.platform?.progressPpm, completed.platform?.graduatedAt],
      [1_000_000, complete.head.time],
    )
    assert.equal(completed.mainPair, NAMES.alfaCurve)
    assert.ok(completed.priceUsd !== undefined, 'a price until there is a pool')
    assert.deepEqual(changesOf(complete, 'switch'), [])

    const migrated = alfaAfter(migration)
    assert.deepEqual(
      changesOf(migration, 'switch').map((change) => change.switch),
      [
        {
          ...{ token: NAMES.alfa, block: migration.head.number, time: migration.head.time },
          ...{ oldPair: NAMES.alfaCurve, newPair: NAMES.alfaPool, reason: 'graduated' },
        },
      ],
    )
    assert.deepEqual(
      [migrated.mainPair, migrated.platform?.name, migrated.platform?.graduatedAt],
      [NAMES.alfaPool, 'pump', complete.head.time],
    )
    assert.equal(engine.pair(NAMES.alfaPool).amm, 'pumpswap')
    const { token0, token1, isMain } = engine.pair(NAMES.alfaCurve)
    assert.deepEqual([token0.reserveRaw, token1.reserveRaw, isMain], [0n, 0n, false])
    // The pool continues near the price where the curve ended.
    assertNear(Number(migrated.priceUsd), Number(completed.priceUsd), 0.2)
  })
})

test('a curve of LaunchLab reports its goal when it is created, and progresses toward it', () => {
  const made = scenario(15)
  const engine = SolanaEngine.of(made.market)
  const { reserves, goal = 0n } = made.market.accounts.pool(NAMES.letsgoCurve)
  const { platform } = engine.token(NAMES.letsgo)
  assert.equal(platform?.name, 'launchlab')
  assert.equal(platform?.progressPpm, Number((reserves[1] * 1_000_000n) / goal))
})

describe('a platform of LaunchLab', () => {
  const row = { amm: 'letsbonk', protocol: 'raydium_launchlab', factory: RAYDIUM_LAUNCHLAB }
  const withPlatform = (deployer: string) => ({
    ...solanaSettings,
    registry: new DexRegistry([...SOLANA_ENGINE_DEPLOYMENTS, { ...row, deployer }]),
  })

  test('names the curves that are created for it', () => {
    const made = scenario(15)
    const plain = SolanaEngine.of(made.market)
    const engine = SolanaEngine.of(made.market, withPlatform(LAB_PLATFORM))
    const { platform } = engine.token(NAMES.letsgo)
    assert.deepEqual(platform, { ...plain.token(NAMES.letsgo).platform, name: 'letsbonk' })
    assert.deepEqual(engine.pair(NAMES.letsgoCurve), { ...plain.pair(NAMES.letsgoCurve), amm: 'letsbonk' })
    const other = SolanaEngine.of(made.market, withPlatform(base58Of('another platform')))
    assert.equal(other.token(NAMES.letsgo).platform?.name, 'launchlab')
  })

  test('names a recorded curve by its first trade', { skip: !hasSolanaRecordings }, () => {
    const programs = knownPrograms(SOLANA_DEPLOYMENTS)
    const { transaction } =
      allSolanaTransactions().find(({ name }) => name.includes('swap_raydium_launchpad_1')) ?? assert.fail()
    const [log] = rawLogsOf(transaction, programs, 0).filter(({ address }) => address === RAYDIUM_LAUNCHLAB)
    const platform = raydiumLaunchLab.platformOf?.(log ?? assert.fail()) ?? assert.fail()
    const engine = new SolanaEngine(() => ({ decimals: 6, supplyRaw: undefined }), withPlatform(platform))
    engine.fold(1_700_000_000, [transaction])
    assert.deepEqual(
      [...engine.tables.tokens.values()].flatMap((token) => token.platform?.name ?? []),
      ['letsbonk'],
    )
  })
})

test('a curve that was there before the first block read is identified by its first trade', () => {
  const made = scenario(5)
  const { market } = made
  made.market.block((block) =>
    block.send(market.wallet(5), (script) => buyPump(script, BRAVO, 2n * SOL, block.time)),
  )
  const engine = new SolanaEngine(() => ({ decimals: 6, supplyRaw: undefined }))
  engine.foldMarketBlock(market.canonical().at(-1) ?? assert.fail())
  const { platform } = engine.token(NAMES.bravo)
  assert.deepEqual(
    [platform?.name, platform?.createdAt, platform?.graduatedAt],
    ['pump', undefined, undefined],
  )
  const { reserves, virtual = [0n, 0n] } = market.accounts.pool(pumpCurve(BRAVO))
  const goal = reserves[1] + (virtual[0] * virtual[1]) / (virtual[0] - reserves[0]) - virtual[1]
  assertNear(platform?.progressPpm ?? 0, (Number(reserves[1]) / Number(goal)) * 1e6, 1e-3)
})

test('a curve that reports its goal with each swap progresses by that', {
  skip: !hasSolanaRecordings,
}, () => {
  const recorded = allSolanaTransactions().find(({ name }) => name === 'swap_mintech_1.json')
  const logs = rawLogsOf(recorded?.transaction ?? assert.fail(), knownPrograms(SOLANA_DEPLOYMENTS), 0)
  const swap = logs.flatMap((log) => meteoraDbc.events[log.topics[0] ?? '']?.(log) ?? [])[0]
  assert.ok(swap?.type === 'swapped' && swap.reserves !== undefined && swap.goalRaw !== undefined)
  const pool = { ...CURVE, address: swap.pool }
  const pair = newPair({
    ...{ address: swap.pool, amm: 'meteora_dbc', tokens: CURVE.tokens, reserves: swap.reserves },
    ...{ targetToken: 'a', tokenOf: () => undefined, time: 1 },
  })
  const platform = platformAfter(undefined, swap, { name: 'meteora_dbc', pool, pair }, 1)
  assert.equal(platform?.progressPpm, Number((swap.reserves[1] * 1_000_000n) / swap.goalRaw))
})

function assertNear(actual: number, expected: number, tolerance: number): void {
  assert.ok(Math.abs(actual / expected - 1) <= tolerance, `${actual} is not near ${expected}`)
}
