import type { Answer, Call, DexDeployment, Identify, Inquiry } from '../../protocol.ts'
import { addressAt, callData, uintAt, wordAt } from '../abi.ts'
import { create2Address, keccakOfPacked } from '../create2.ts'

/** factory() */
const FACTORY = '0xc45a0155'
/** token0() */
const TOKEN0 = '0x0dfe1681'
/** token1() */
const TOKEN1 = '0xd21220a7'
/** balanceOf(address) */
const BALANCE_OF = '0x70a08231'

export type PoolLookup = {
  /** Selector that queries the factory for the pool of two tokens and, if set, the `mark`. */
  readonly lookUp: string
  /** Selector of the property that distinguishes pools of the same tokens: a fee or a tick spacing. */
  readonly mark?: string
  /** True if the reserves are counted from events and need an initial value. */
  readonly isCounted: boolean
}

/** Two rounds: the pool's claims, then their verification and, if needed, its balances. */
export function identifyPool(lookup: PoolLookup): Identify {
  return (pool, deployments) => inquire(pool, deployments, lookup)
}

function* inquire(pool: string, deployments: readonly DexDeployment[], lookup: PoolLookup): Inquiry {
  const { lookUp, mark, isCounted } = lookup
  const selectors = [FACTORY, TOKEN0, TOKEN1, ...(mark === undefined ? [] : [mark])]
  const [first, ...rest]: readonly Answer[] = yield selectors.map((data) => ({ to: pool, data }))
  const factory = addressAt(first, 0)
  const token0 = addressAt(rest[0], 0)
  const token1 = addressAt(rest[1], 0)
  const claimedMark = wordAt(rest[2], 0)
  const deployment = deployments.find((one) => one.factory === factory)
  if (deployment === undefined || token0 === undefined || token1 === undefined) return undefined
  if (mark !== undefined && claimedMark === undefined) return undefined

  const key = claimedMark === undefined ? [token0, token1] : [token0, token1, claimedMark]
  const isProven = deployment.initCodeHash !== undefined
  // The salt is the hash of the ABI-encoded key.
  if (isProven && create2Address(deployment, keccakOfPacked(callData('0x', ...key))) !== pool)
    return undefined

  const calls: Call[] = []
  if (!isProven) calls.push({ to: deployment.factory, data: callData(lookUp, ...key) })
  if (isCounted) {
    const data = callData(BALANCE_OF, pool)
    calls.push({ to: token0, data, before: true }, { to: token1, data, before: true })
  }
  const answers: readonly Answer[] = calls.length === 0 ? [] : yield calls
  const [own, ...balances] = isProven ? [undefined, ...answers] : answers
  if (!isProven && addressAt(own, 0) !== pool) return undefined
  const reserve0 = uintAt(balances[0], 0)
  const reserve1 = uintAt(balances[1], 0)
  return {
    factory: deployment.factory,
    tokens: [token0, token1],
    pricing: { kind: 'sqrtPrice' },
    reservesBefore: reserve0 === undefined || reserve1 === undefined ? undefined : [reserve0, reserve1],
  }
}
