import assert from 'node:assert/strict'
import { keccak256, zeroAddress } from 'viem'
import { uniswapV3Pool } from '../../dev/market/uniswap-v3.ts'
import { idOf } from '../../dev/market/uniswap-v4.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { storedRows } from '../support/reference/store-dump.ts'
import { Pipeline } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { ExpectedHoldings } from './expected-holdings.ts'
import { ExpectedMarket } from './expected-market.ts'
import type { ExpectedPool, ExpectedTrade } from './expected-pools.ts'
import { knowTokens } from './know-tokens.ts'
import { ProtocolsScenario } from './protocols-scenario.ts'

const ROLES = ['reader', 'engine', 'writer', 'gateway'] as const

export type Row = Readonly<Record<string, unknown>>

/** By table. */
export type Rows = Readonly<Record<string, readonly Row[]>>

type Played = { readonly lateStart: number; readonly lostPool: string }

/** The scenario, read by two pipelines: one from the first block, through a fork; one that came in the middle. */
export class ProtocolsRun {
  readonly stack: Stack
  readonly scenario: ProtocolsScenario
  readonly full: Pipeline
  late: Pipeline | undefined

  private constructor(stack: Stack, scenario: ProtocolsScenario) {
    this.stack = stack
    this.scenario = scenario
    const init_code_hash = keccak256(uniswapV3Pool.bytecode)
    this.full = new Pipeline(stack, 'full', chainOf(scenario, { init_code_hash }))
  }

  static async deploy(): Promise<ProtocolsRun> {
    const stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
    try {
      return new ProtocolsRun(stack, await ProtocolsScenario.deploy(stack.rpcUrl))
    } catch (error) {
      await stack.stop()
      throw error
    }
  }

  async play(): Promise<Finished> {
    await this.full.start(...ROLES)
    const played = await this.#playScenario()
    // It starts when all is over. It is to ask V3's factory, and has nobody to ask about V4's pools.
    const chain = { ...chainOf(this.scenario, {}), start_block: played.lateStart, scan_pools: false }
    const late = new Pipeline(this.stack, 'late', chain)
    this.late = late
    await late.start(...ROLES)
    const tokens = this.scenario.tokens.map(({ address }) => address.toLowerCase())
    await knowTokens(this.full, this.scenario.market, tokens)
    await Promise.all([this.full, late].map((pipeline) => this.#caughtUp(pipeline)))
    const { number } = await this.scenario.market.head()
    const expected = await ExpectedMarket.read(this.scenario, number)
    const hidden: unknown[] = [idOf(this.scenario.fortUsd), idOf(this.scenario.ethFort)]
    const lateTrades = expected.pools.trades.filter(
      ({ block, pool }) => block >= played.lateStart && !hidden.includes(pool.id),
    )
    return {
      late,
      lostPool: played.lostPool,
      expected,
      holdings: await ExpectedHoldings.read(this.scenario.market, tokens, number),
      lateTrades,
      fullRows: await this.#settledRows(this.full, expected.pools.trades.length),
      lateRows: await this.#settledRows(late, lateTrades.length),
    }
  }

  async stop(): Promise<void> {
    await Promise.all([this.full.stop(), this.late?.stop()])
    await this.stack.stop()
  }

  async #playScenario(): Promise<Played> {
    const { scenario, full } = this
    await scenario.open()
    for (const round of [1, 2, 3]) await scenario.trade(round)
    await scenario.lose()
    const lostPool = (await scenario.lostV3Pool()).address.toLowerCase()
    await this.#caughtUp(full)
    await scenario.market.reorganise(3)
    await this.#caughtUp(full)
    await scenario.pretend()
    await scenario.rearrange()
    await scenario.trade(4)
    const lateStart = (await scenario.market.head()).number + 1
    await scenario.trade(2)
    await scenario.openLate()
    await scenario.trade(5)
    await scenario.pretend()
    await scenario.settle()
    return { lateStart, lostPool }
  }

  async #caughtUp(pipeline: Pipeline): Promise<void> {
    await pipeline.reaches(`/v2/tokens/${this.scenario.v2.stable}-local`, await this.scenario.market.head())
  }

  /** The gateway has seen the last block; the writer may be a batch behind. */
  #settledRows({ name }: Pipeline, trades: number): Promise<Rows> {
    let last = ''
    return waitFor(`the writer of ${name}`, async () => {
      const found = (await storedRows(this.stack, name)) as Rows
      const isSame = last === JSON.stringify(found)
      last = JSON.stringify(found)
      return isSame && (found['trades']?.length ?? 0) >= trades ? found : undefined
    })
  }
}

/** How it ended. */
export type Finished = {
  readonly late: Pipeline
  /** A V3 pool that was there in the lost branch only. */
  readonly lostPool: string
  readonly expected: ExpectedMarket
  readonly holdings: ExpectedHoldings
  /** What the latecomer can know of: from its first block on, without the V4 pools that were there before. */
  readonly lateTrades: readonly ExpectedTrade[]
  readonly fullRows: Rows
  readonly lateRows: Rows
}

function chainOf({ market, v2, v3, v4 }: ProtocolsScenario, v3Settings: Row): Record<string, unknown> {
  return {
    quote_assets: [
      { address: v2.stable, kind: 'stable' },
      { address: market.weth, kind: 'native' },
      { address: zeroAddress, kind: 'native' },
    ],
    dexes: [
      { amm: 'uniswap_v2', protocol: 'uniswap_v2', factory: market.factory },
      { amm: 'uniswap_v3', protocol: 'uniswap_v3', factory: v3.factory, ...v3Settings },
      { amm: 'uniswap_v4', protocol: 'uniswap_v4', factory: v4.manager },
    ],
  }
}

export function inChainOrder(trades: readonly Row[] | undefined): Row[] {
  const place = ({ block, log }: Row) => Number(block) * 1e6 + Number(log)
  return [...(trades ?? [])].sort((a, b) => place(a) - place(b))
}

export function pick(row: Row, names: readonly string[]): Row {
  return Object.fromEntries(names.map((name) => [name, row[name]]))
}

export function pairRow({ pairs }: Rows, address: string): Row {
  const row = pairs?.find((one) => one['address'] === address.toLowerCase())
  assert.ok(row, `no pair ${address}`)
  return row
}

export function poolOf({ pools }: ExpectedMarket, id: string): ExpectedPool {
  const found = pools.all.get(id.toLowerCase())
  assert.ok(found, `no pool ${id}`)
  return found
}
