import { encodeAbiParameters, type Hex, keccak256, zeroAddress } from 'viem'
import { compile } from '../../dev/market/artifacts.ts'
import type { Market } from '../../dev/market/market.ts'
import type { Held } from './coverage-exchanges.ts'

const SOURCE = new URL('./TestLaunchpads.sol', import.meta.url)
const MANAGER = compile('TestTokenManager2', SOURCE)
const PORTAL = compile('TestPortal', SOURCE)
const GAS = 8_000_000n
const GOAL = 24n * 10n ** 18n
const FOR_SALE = 8n * 10n ** 26n

/** A platform sells all of its token. */
export const LAUNCHED_SUPPLY = 10n ** 27n
export const LAUNCH_FAMILIES = ['four_meme', 'flap'] as const
export type LaunchFamily = (typeof LAUNCH_FAMILIES)[number]

type Sale = { readonly left: bigint; readonly raised: bigint }

/** Tokens that are still sold along their bonding curves. All that is sent needs mining. */
export class CoverageLaunchpads {
  readonly #market: Market
  readonly #platforms: Readonly<Record<LaunchFamily, Hex>>
  /** By token and how its sale stood afterwards: a fork may undo a trade. */
  readonly #lastPrices = new Map<string, number>()

  private constructor(market: Market, platforms: Readonly<Record<LaunchFamily, Hex>>) {
    this.#market = market
    this.#platforms = platforms
  }

  static async deploy(market: Market): Promise<CoverageLaunchpads> {
    const four_meme = await market.deploy(MANAGER, [market.router])
    const flap = await market.deploy(PORTAL, [market.router])
    return new CoverageLaunchpads(market, { four_meme, flap })
  }

  settings(): Record<string, unknown>[] {
    return LAUNCH_FAMILIES.map((family) => {
      return { amm: family, protocol: family, factory: this.#platforms[family] }
    })
  }

  /** Opens a curve and sells a little; returns the curve's id. */
  async launch(family: LaunchFamily, token: Hex): Promise<Hex> {
    const platform = this.#platforms[family]
    await this.#market.approve(token, platform)
    await this.#send(platform, 'open', [token, zeroAddress, GOAL])
    await this.#market.mine()
    await this.#pay(family, token, 2n * 10n ** 18n)
    await this.#market.mine()
    const id = encodeAbiParameters([{ type: 'address' }, { type: 'address' }], [platform, token])
    return keccak256(id)
  }

  async buy(family: LaunchFamily, token: Hex, cost: bigint): Promise<void> {
    const { left, raised } = await this.#sale(family, token)
    const amount = (cost * (left + FOR_SALE / 3n)) / (raised + GOAL / 3n + cost)
    await this.#pay(family, token, cost)
    const after = keyOf(token, { left: left - amount, raised: raised + cost })
    this.#lastPrices.set(after, Number(cost) / Number(amount))
  }

  /** What the node's state says. */
  async held(family: LaunchFamily, token: Hex, etherUsd: number): Promise<Held> {
    const sale = await this.#sale(family, token)
    const last = this.#lastPrices.get(keyOf(token, sale))
    const prices = [...(last === undefined ? [] : [last]), quoteOf(family, sale)]
    return {
      reserve: Number(sale.left) / 1e18,
      quoteUsd: (Number(sale.raised) / 1e18) * etherUsd,
      pricesUsd: prices.map((price) => price * etherUsd),
    }
  }

  async #sale(family: LaunchFamily, token: Hex): Promise<Sale> {
    const call = { to: this.#platforms[family], abi: MANAGER.abi, name: 'stateOf', args: [token] }
    const [left, raised] = (await this.#market.read(call)) as [bigint, bigint, boolean]
    return { left, raised }
  }

  /** With the platform's fee on top. */
  #pay(family: LaunchFamily, token: Hex, cost: bigint): Promise<Hex> {
    return this.#send(this.#platforms[family], 'buy', [token, cost], cost + cost / 100n)
  }

  #send(to: Hex, name: string, args: readonly unknown[], value = 0n): Promise<Hex> {
    return this.#market.send({ to, abi: MANAGER.abi, name, args, value, gas: GAS })
  }
}

function keyOf(token: Hex, { left, raised }: Sale): string {
  return `${token} ${left} ${raised}`
}

/** The price of a ten-thousandth of what is left (four.meme), or of next to nothing (Flap). */
function quoteOf(family: LaunchFamily, { left, raised }: Sale): number {
  const [ether, tokens] = [raised + GOAL / 3n, left + FOR_SALE / 3n]
  if (family === 'flap') return Number((ether * 10n ** 18n) / tokens) / 1e18
  const amount = left / 10_000n
  return Number((amount * ether) / (tokens - amount)) / Number(amount)
}
