import assert from 'node:assert/strict'
import { concatHex, type Hex, numberToHex } from 'viem'
import { type Artifact, uniswapV2Factory } from '../../../dev/market/artifacts.ts'
import type { Market } from '../../../dev/market/market.ts'
import { UniswapV3 } from '../../../dev/market/uniswap-v3.ts'
import { type Stack, startStack } from '../../../src/sandbox/servers/stack.ts'
import { Scenario } from '../../e2e/scenario.ts'
import { Pipeline } from '../rigs/pipeline.ts'
import { waitFor } from '../rigs/wait-for.ts'
import { type Making, scripted } from './hostile-corpus.ts'

export type Row = Readonly<Record<string, unknown>>

const IN_POOL = 10n ** 24n
const COINS_IN_POOL = 10n ** 18n
/** What was examined longer ago is examined again when somebody asks. */
const HOUR = 3_600
/** Far above what a block takes, so that a machine that stalls for a minute fails nothing. */
const PATIENCE_MS = 120_000

/** A market on which everything that is made here stands in a pool that counts, and a pipeline that reads it. */
export class HostileWorld {
  readonly stack: Stack
  readonly scenario: Scenario
  readonly v3: UniswapV3
  readonly pipeline: Pipeline

  private constructor(stack: Stack, scenario: Scenario, v3: UniswapV3) {
    this.stack = stack
    this.scenario = scenario
    this.v3 = v3
    const { factory } = scenario.market
    const dexes = [
      { amm: 'uniswap_v2', protocol: 'uniswap_v2', factory },
      { amm: 'uniswap_v3', protocol: 'uniswap_v3', factory: v3.factory },
    ]
    this.pipeline = new Pipeline(stack, 'hostile', { finality_depth: 200, dexes })
  }

  static async start(): Promise<HostileWorld> {
    const stack = await startStack({
      anvil: ['--no-mining', '--timestamp', '1750000000', '--gas-limit', '200000000'],
    })
    try {
      const scenario = await Scenario.deploy(stack.rpcUrl)
      const world = new HostileWorld(stack, scenario, await UniswapV3.deploy(scenario.market))
      await world.pipeline.start('all')
      // What is genuine is traded, so that what its pool holds is known.
      for (let block = 0; block < 3; block++) {
        await scenario.market.buyWithNative(scenario.token, 10n ** 16n)
        await world.mine()
      }
      return world
    } catch (error) {
      await stack.stop()
      throw error
    }
  }

  get market(): Market {
    return this.scenario.market
  }

  async stop(): Promise<void> {
    await this.pipeline.stop()
    await this.stack.stop()
  }

  /** Where it can be moved, its pool holds some. */
  async make(how: Making): Promise<Hex> {
    const { market } = this
    const token = await this.#place(how)
    if ('artifact' in how && how.liquid) {
      await market.approve(token, market.router)
      await market.addLiquidityNative(token, IN_POOL, COINS_IN_POOL)
      await this.mine()
    } else await this.pool(token)
    return token
  }

  async pool(token: Hex): Promise<void> {
    const { market } = this
    const { abi } = uniswapV2Factory
    await market.send({ to: market.factory, abi, name: 'createPair', args: [token, market.weth] })
    await this.mine()
  }

  /** Lets a contract log something; needs mining. */
  async say(from: Hex, topics: readonly Hex[], data: Hex): Promise<void> {
    await this.market.send({ to: from, abi: scripted('Shouter').abi, name: 'say', args: [topics, data] })
  }

  /** One block, of which nothing may fail unseen, and whatever a reader asks about it. */
  async mine(seconds = 12): Promise<void> {
    const { market, pipeline, scenario } = this
    const { time } = await market.head()
    await market.mine(time + seconds)
    const { number } = await market.head()
    for (const { status, transactionHash } of await market.receipts(number))
      assert.equal(status, 'success', `transaction ${transactionHash} in block ${number}`)
    await waitFor(
      `block ${number}`,
      async () => {
        assert.equal(pipeline.role('all').exitCode, null, 'the pipeline has ended')
        const { headers } = await pipeline.get(`/v2/tokens/${scenario.stable}-local`)
        return headers.get('X-Block') === String(number) ? true : undefined
      },
      PATIENCE_MS,
    )
  }

  /** Returns once these contracts were examined as they are now. */
  async examine(tokens: readonly Hex[]): Promise<void> {
    await this.mine(HOUR + 1)
    const { number } = await this.market.head()
    let left = tokens
    await waitFor(
      'all contracts to be examined',
      async () => {
        const open: Hex[] = []
        for (const token of left) {
          const { status, body } = await this.pipeline.get(`/v2/contracts/${token}-local`)
          // A store that is slow at the moment is asked again.
          assert.ok(status === 200 || status >= 500, `${token}: ${status} ${JSON.stringify(body)}`)
          if (status !== 200 || Number((body as Row)['checked_at_block'] ?? -1) < number) open.push(token)
        }
        left = open
        if (left.length > 0) await this.mine(1)
        return left.length === 0 ? true : undefined
      },
      240_000,
    ).catch((error: unknown) => {
      throw new Error(`not examined: ${left.join()}`, { cause: error })
    })
  }

  async get<T = Row>(path: string): Promise<T> {
    const { status, body } = await this.pipeline.get(path)
    assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`)
    return body as T
  }

  async rowOf(token: Hex): Promise<Row> {
    const question = { token_ids: [`${token}-local`] }
    const { status, body } = await this.pipeline.post('/v2/tokens/search', question)
    assert.equal(status, 200)
    const [row] = Object.values(body as Record<string, Row>)
    assert.ok(row, `no row of ${token}`)
    return row
  }

  #place(how: Making): Promise<Hex> | Hex {
    if ('address' in how) return how.address
    if ('code' in how) return this.market.deploy(creationOf(how.code), [])
    return this.market.deploy(how.artifact, how.args)
  }
}

/** Returns whatever stands behind its first ten bytes. */
function creationOf(code: Hex): Artifact {
  const size = numberToHex((code.length - 2) / 2, { size: 2 })
  return { abi: [], bytecode: concatHex(['0x61', size, '0x80600a3d393df3', code]) }
}
