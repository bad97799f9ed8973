import assert from 'node:assert/strict'
import { encodeAbiParameters, type Hex, keccak256, zeroAddress } from 'viem'
import { compile } from '../../dev/market/artifacts.ts'
import type { Market } from '../../dev/market/market.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { Pipeline } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { Scenario } from './scenario.ts'

const SOURCE = new URL('./TestLaunchpads.sol', import.meta.url)
const MANAGER = compile('TestTokenManager2', SOURCE)
const PORTAL = compile('TestPortal', SOURCE)

const SUPPLY = 10n ** 27n
/** A pool is created on the way. */
const GAS = 8_000_000n

export const ether = (thousandths: bigint): bigint => thousandths * 10n ** 15n
export const GOAL = ether(24_000n)

export type Row = Readonly<Record<string, unknown>>

/** A token and its platform. */
export type Launch = { readonly token: Hex; readonly platform: Hex; readonly curve: Hex }

/** Two launch platforms beside Uniswap V2, a third unlisted one, and a pipeline's data about them. */
export class LaunchpadsRun {
  readonly stack: Stack
  readonly market: Market
  readonly scenario: Scenario
  readonly manager: Hex
  readonly portal: Hex
  readonly impostor: Hex
  readonly #pipelines: Pipeline[] = []

  private constructor(stack: Stack, scenario: Scenario, platforms: readonly [Hex, Hex, Hex]) {
    this.stack = stack
    this.scenario = scenario
    this.market = scenario.market
    ;[this.manager, this.portal, this.impostor] = platforms
  }

  static async deploy(): Promise<LaunchpadsRun> {
    const stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
    try {
      const scenario = await Scenario.deploy(stack.rpcUrl)
      const { market } = scenario
      const manager = await market.deploy(MANAGER, [market.router])
      const portal = await market.deploy(PORTAL, [market.router])
      const impostor = await market.deploy(MANAGER, [market.router])
      return new LaunchpadsRun(stack, scenario, [manager, portal, impostor])
    } catch (error) {
      await stack.stop()
      throw error
    }
  }

  async startPipeline(name: string, startBlock = 0): Promise<Pipeline> {
    const pipeline = new Pipeline(this.stack, name, {
      quote_assets: [
        { address: this.scenario.stable, kind: 'stable' },
        { address: this.market.weth, kind: 'native' },
        { address: zeroAddress, kind: 'native' },
      ],
      dexes: [
        { amm: 'uniswap_v2', protocol: 'uniswap_v2', factory: this.market.factory },
        { amm: 'fourmeme', protocol: 'four_meme', factory: this.manager },
        { amm: 'flap', protocol: 'flap', factory: this.portal },
      ],
      start_block: startBlock,
    })
    this.#pipelines.push(pipeline)
    await pipeline.start('all')
    return pipeline
  }

  async stop(): Promise<void> {
    await Promise.all(this.#pipelines.map((pipeline) => pipeline.stop()))
    await this.stack.stop()
  }

  /** Opens the curve of a new token, in a block of its own. */
  async launch(platform: Hex, symbol: string, quote: Hex = zeroAddress, goal = GOAL): Promise<Launch> {
    const token = await this.market.createToken({
      name: `The ${symbol}`,
      symbol,
      decimals: 18,
      supply: SUPPLY,
    })
    await this.market.approve(token, platform)
    if (quote !== zeroAddress) await this.market.approve(quote, platform)
    await this.#send(platform, 'open', [token, quote, goal])
    await this.mine()
    const id = encodeAbiParameters([{ type: 'address' }, { type: 'address' }], [platform, token])
    return { token: token.toLowerCase() as Hex, platform, curve: keccak256(id) }
  }

  buy({ platform, token }: Launch, cost: bigint, isNative = true): Promise<Hex> {
    return this.#send(platform, 'buy', [token, cost], isNative ? cost + cost / 100n : 0n)
  }

  sell({ platform, token }: Launch, amount: bigint): Promise<Hex> {
    return this.#send(platform, 'sell', [token, amount])
  }

  async stateOf({ platform, token }: Launch): Promise<{ left: bigint; raised: bigint; isOpen: boolean }> {
    const call = { to: platform, abi: MANAGER.abi, name: 'stateOf', args: [token] }
    const [left, raised, isOpen] = (await this.market.read(call)) as [bigint, bigint, boolean]
    return { left, raised, isOpen }
  }

  async poolOf({ token }: Launch): Promise<string> {
    return (await this.market.pairOf(token, this.market.weth)).toLowerCase()
  }

  /** One block; nothing of the script may fail unseen. */
  async mine(): Promise<void> {
    const { time } = await this.market.head()
    await this.market.mine(time + 5)
    const { number } = await this.market.head()
    for (const { status, transactionHash } of await this.market.receipts(number))
      assert.equal(status, 'success', `transaction ${transactionHash} in block ${number}`)
  }

  /** Waits until the tokens of a tag, in this order, are these: the ranks are the writer's. */
  async tokensBecome(pipeline: Pipeline, tag: string, expected: readonly Launch[]): Promise<Row[]> {
    const wanted = JSON.stringify(expected.map(({ token }) => token))
    let last = ''
    try {
      return await waitFor(`the tokens of ${tag}`, async () => {
        const { status, body } = await pipeline.get(`/v2/tokens/platform?tag=${tag}`)
        assert.equal(status, 200, JSON.stringify(body))
        const rows = body as Row[]
        last = JSON.stringify(rows.map(({ token }) => token))
        return last === wanted ? rows : undefined
      })
    } catch (error) {
      throw new Error(`${tag} has ${last}, not ${wanted}`, { cause: error })
    }
  }

  #send(to: Hex, name: string, args: readonly unknown[], value = 0n): Promise<Hex> {
    return this.market.send({ to, abi: MANAGER.abi, name, args, value, gas: GAS })
  }
}
