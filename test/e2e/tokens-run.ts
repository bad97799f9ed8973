import assert from 'node:assert/strict'
import { type Hex, padHex } from 'viem'
import { compile } from '../../dev/market/artifacts.ts'
import type { Market } from '../../dev/market/market.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { Pipeline } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { artifact, INSPECTED_TOKENS, takesPools } from '../support/tokens/inspected-tokens.ts'
import { DEAD } from './expected-holdings.ts'
import { Scenario } from './scenario.ts'

const BUSY = compile('BusyToken', new URL('../support/tokens/BusyToken.sol', import.meta.url))
const ROLES = ['reader', 'engine', 'writer', 'gateway'] as const

export const NAME = 'tokens'
export const LOCKER: Hex = padHex('0x10c4e5', { size: 20 })

const SUPPLY = 10n ** 27n
const COINS_IN_POOL = 100n * 10n ** 18n
const SECONDS_PER_BLOCK = 12

export type Row = Readonly<Record<string, unknown>>

/** Tokens of all kinds, each in a pool of its own, and a pipeline that has to find out what they are. */
export class TokensRun {
  readonly stack: Stack
  readonly scenario: Scenario
  readonly pipeline: Pipeline
  readonly tokens = new Map<string, Hex>()
  #malicious: Hex | undefined
  #seed = 0n

  private constructor(stack: Stack, scenario: Scenario) {
    this.stack = stack
    this.scenario = scenario
    this.pipeline = new Pipeline(stack, NAME, { finality_depth: 64, lockers: [LOCKER] })
  }

  static async start(): Promise<TokensRun> {
    const stack = await startStack({
      anvil: ['--no-mining', '--timestamp', '1750000000', '--gas-limit', '200000000'],
    })
    try {
      const run = new TokensRun(stack, await Scenario.deploy(stack.rpcUrl))
      await run.pipeline.start(...ROLES)
      return run
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

  tokenOf(name: string): Hex {
    const token = this.tokens.get(name)
    assert.ok(token, name)
    return token
  }

  /** Each is ready in the block after its pool was created: a reader looks at it two blocks after. */
  async openAll(): Promise<void> {
    const { market } = this
    const first = await market.deploy(artifact('FirstVersion'), [])
    this.#malicious = await market.deploy(artifact('MaliciousVersion'), [])
    for (const name of Object.keys(INSPECTED_TOKENS)) {
      const token = await this.open(name, name === 'ProxyToken' ? [first] : [])
      if (takesPools(name)) await this.call(name, 'setPool', await market.pairOf(token, market.weth))
      if (INSPECTED_TOKENS[name]?.owner === 'zero') await this.call(name, 'renounceOwnership')
      await this.mine()
    }
    const busy = await market.deploy(BUSY, [LOCKER])
    await this.#pool('BusyToken', busy, 10n ** 17n)
  }

  /** Deploys a token and opens its pool. Of the plain one, nobody can sell much or take the liquidity away. */
  async open(name: string, args: readonly unknown[] = [], as = name): Promise<Hex> {
    const { market } = this
    const token = await market.deploy(artifact(name), args)
    const isPlain = name === 'PlainToken'
    await this.#pool(as, token, isPlain ? (SUPPLY * 96n) / 100n : SUPPLY / 1_000n)
    if (isPlain) {
      const pair = await market.pairOf(token, market.weth)
      await market.transfer(pair, DEAD[0] as Hex, await market.balanceOf(pair))
    }
    return token
  }

  async call(name: string, method: string, ...args: readonly unknown[]): Promise<void> {
    await this.market.send({ to: this.tokenOf(name), abi: artifact(name).abi, name: method, args })
  }

  async upgrade(): Promise<void> {
    await this.call('ProxyToken', 'upgradeTo', this.#malicious)
    await this.mine()
  }

  /** So many transfers, and a purchase now and then, in one block that waits to be mined. */
  async moveMany(transfers: number): Promise<void> {
    const { market } = this
    const calls = 4
    for (let each = 0; each < calls; each++) {
      const args = [this.#seed++, BigInt(Math.ceil(transfers / calls))]
      await market.send({ to: this.tokenOf('BusyToken'), abi: BUSY.abi, name: 'moveMany', args })
    }
    if (this.#seed % 5n < 4n) await market.buyWithNative(this.tokenOf('BusyToken'), 10n ** 15n + this.#seed)
  }

  /** One block, and whatever is asked about it: anvil may answer with the state after the next one if that comes meanwhile. */
  async mine(seconds = SECONDS_PER_BLOCK): Promise<void> {
    await this.mineUnread(seconds)
    await this.caughtUp()
  }

  /** One block; nothing of the script may fail unseen. */
  async mineUnread(seconds = SECONDS_PER_BLOCK): Promise<void> {
    const { time } = await this.market.head()
    await this.market.mine(time + seconds)
    const { number } = await this.market.head()
    for (const { status, transactionHash } of await this.market.receipts(number))
      assert.equal(status, 'success', `transaction ${transactionHash} in block ${number}`)
  }

  async caughtUp(): Promise<void> {
    await this.pipeline.reaches(`/v2/tokens/${this.scenario.stable}-local`, await this.market.head())
  }

  /** What is found out in the background comes with the blocks that follow, so there have to be some. */
  async mineUntil<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
    return waitFor(
      what,
      async () => {
        const found = await look()
        if (found === undefined) await this.mine()
        return found
      },
      90_000,
    )
  }

  async contractOf(token: Hex): Promise<Row> {
    const { status, body } = await this.pipeline.get(`/v2/contracts/${token}-local`)
    assert.equal(status, 200, JSON.stringify(body))
    return body as Row
  }

  /** The one row that a search for its address finds. */
  async rowOf(token: Hex): Promise<Row> {
    const { status, body } = await this.pipeline.get(`/v2/tokens?keyword=${token}&chain=local`)
    assert.equal(status, 200, JSON.stringify(body))
    const rows = body as Row[]
    assert.equal(rows.length, 1)
    return rows[0] ?? {}
  }

  async #pool(name: string, token: Hex, amount: bigint): Promise<void> {
    this.tokens.set(name, token)
    await this.market.approve(token, this.market.router)
    await this.market.addLiquidityNative(token, amount, COINS_IN_POOL)
    await this.mine()
  }
}
