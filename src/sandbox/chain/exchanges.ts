import { readFileSync } from 'node:fs'
import {
  concat,
  encodeAbiParameters,
  getContractAddress,
  type Hex,
  parseAbiParameters,
  zeroAddress,
} from 'viem'
import type { Transaction } from './node.ts'

/** Creation code, by contract: dev/sandbox-contracts.ts. */
const CODE = JSON.parse(readFileSync(new URL('contracts.json', import.meta.url), 'utf8')) as Readonly<
  Record<ContractName | 'token', Hex>
>

/** In the order of their creation, by which they have their addresses. */
const NAMES = [
  ...(['weth', 'v2Factory', 'v2Router', 'v3Factory', 'v3Positions', 'v3Router'] as const),
  ...(['v4Manager', 'v4Swapper', 'v4Provider', 'launchpad'] as const),
]
type ContractName = (typeof NAMES)[number]

/** Addresses of the exchanges. */
export type Exchanges = Readonly<Record<ContractName, Hex>>

const CREATION_GAS = 12_000_000n

/** Exchanges of a deployer that has not sent anything yet. */
export function exchangesOf(deployer: Hex): Exchanges {
  const entries = NAMES.map((name, nonce) => [name, contractAt(deployer, nonce)] as const)
  return Object.fromEntries(entries) as Exchanges
}

export function contractAt(creator: Hex, nonce: number): Hex {
  return getContractAddress({ from: creator, nonce: BigInt(nonce) }).toLowerCase() as Hex
}

/** Creates all exchanges, in this order and before anything else of the deployer. */
export function deployments(deployer: Hex): Transaction[] {
  const at = exchangesOf(deployer)
  const args: Readonly<Record<ContractName, readonly Hex[]>> = {
    weth: [],
    v2Factory: [deployer],
    v2Router: [at.v2Factory, at.weth],
    v3Factory: [],
    // Without a contract that draws a picture of each position.
    v3Positions: [at.v3Factory, at.weth, zeroAddress],
    v3Router: [at.v3Factory, at.weth],
    v4Manager: [deployer],
    v4Swapper: [at.v4Manager],
    v4Provider: [at.v4Manager],
    launchpad: [at.v2Router],
  }
  return NAMES.map((name) => {
    const types = args[name].map(() => ({ type: 'address' }))
    return creation(deployer, CODE[name], encodeAbiParameters(types, args[name]))
  })
}

export type NewToken = {
  readonly name: string
  readonly symbol: string
  readonly decimals: number
  readonly supplyRaw: bigint
  readonly isTrap: boolean
}

export function tokenCreation(creator: Hex, token: NewToken, exchanges: Exchanges): Transaction {
  const { v2Router, v3Positions, v3Router, v4Swapper, v4Provider, launchpad } = exchanges
  const types = parseAbiParameters('string, string, uint8, uint256, bool, address[]')
  const args = encodeAbiParameters(types, [
    ...([token.name, token.symbol, token.decimals, token.supplyRaw, token.isTrap] as const),
    [v2Router, v3Positions, v3Router, v4Swapper, v4Provider, launchpad],
  ])
  return creation(creator, CODE.token, args)
}

function creation(from: Hex, code: Hex, args: Hex): Transaction {
  return { from, data: concat([code, args]), gas: CREATION_GAS }
}
