import {
  concat,
  encodeAbiParameters,
  encodePacked,
  type Hex,
  keccak256,
  parseAbiParameters,
  zeroAddress,
} from 'viem'
import { type Coin, ETHER, type PoolSpec, type TokenSpec } from '../market/actions.ts'
import type { Exchanges } from './exchanges.ts'
import { SPACING_OF_FEE } from './liquidity-math.ts'

export type PoolKey = {
  readonly currency0: Hex
  readonly currency1: Hex
  readonly fee: number
  readonly tickSpacing: number
  readonly hooks: Hex
}

/** A token of the sandbox on its chain. */
export type SandboxToken = TokenSpec & { readonly address: Hex }

/** A pool of the sandbox on its chain. The id is its address; on V4 and the launchpad, a hash. */
export type SandboxPool = PoolSpec & { readonly id: Hex; position?: bigint }

const V2_CODE_HASH = '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f'
const V3_CODE_HASH = '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54'

/** Where everything is: addresses follow from what was created in which order, without asking the node. */
export class Places {
  readonly exchanges: Exchanges
  readonly tokens = new Map<Coin, SandboxToken>()
  readonly pools: SandboxPool[] = []
  /** Positions of V3 so far: they are numbered from one, over all pools. */
  positions = 0n

  constructor(exchanges: Exchanges) {
    this.exchanges = exchanges
  }

  copy(): Places {
    const copy = new Places(this.exchanges)
    for (const [coin, token] of this.tokens) copy.tokens.set(coin, token)
    copy.pools.push(...this.pools)
    copy.positions = this.positions
    return copy
  }

  /** Ether is wrapped, but for V4 and the launchpad. */
  addressOf(coin: Coin): Hex {
    if (coin === ETHER) return this.exchanges.weth
    const token = this.tokens.get(coin)
    if (token === undefined) throw new Error(`coin ${coin} does not exist yet`)
    return token.address
  }

  poolOf(pool: number): SandboxPool {
    const found = this.pools[pool]
    if (found === undefined) throw new Error(`pool ${pool} does not exist yet`)
    return found
  }

  addPool(spec: PoolSpec): SandboxPool {
    const pool: SandboxPool = { ...spec, id: this.#idOf(spec) }
    if (spec.venue === 'v3') {
      this.positions += 1n
      pool.position = this.positions
    }
    this.pools[spec.pool] = pool
    return pool
  }

  keyOf({ base, quote, fee }: PoolSpec): PoolKey {
    const [currency0, currency1] = inOrder(this.#currencyOf(base), this.#currencyOf(quote))
    return { currency0, currency1, fee, tickSpacing: SPACING_OF_FEE[fee] ?? 60, hooks: zeroAddress }
  }

  #currencyOf(coin: Coin): Hex {
    return coin === ETHER ? zeroAddress : this.addressOf(coin)
  }

  #idOf(spec: PoolSpec): Hex {
    const { v2Factory, v3Factory, launchpad } = this.exchanges
    const [token0, token1] = inOrder(this.addressOf(spec.base), this.addressOf(spec.quote))
    switch (spec.venue) {
      case 'v2':
        return create2(v2Factory, encodePacked(['address', 'address'], [token0, token1]), V2_CODE_HASH)
      case 'v3': {
        const types = parseAbiParameters('address, address, uint24')
        return create2(v3Factory, encodeAbiParameters(types, [token0, token1, spec.fee]), V3_CODE_HASH)
      }
      case 'v4': {
        const { currency0, currency1, fee, tickSpacing, hooks } = this.keyOf(spec)
        const types = parseAbiParameters('address, address, uint24, int24, address')
        return keccak256(encodeAbiParameters(types, [currency0, currency1, fee, tickSpacing, hooks]))
      }
      case 'curve': {
        const types = parseAbiParameters('address, address')
        return keccak256(encodeAbiParameters(types, [launchpad, this.addressOf(spec.base)]))
      }
    }
  }
}

export function inOrder(a: Hex, b: Hex): [Hex, Hex] {
  return BigInt(a) < BigInt(b) ? [a, b] : [b, a]
}

function create2(factory: Hex, salted: Hex, codeHash: Hex): Hex {
  return `0x${keccak256(concat(['0xff', factory, keccak256(salted), codeHash])).slice(26)}`
}
