import type { Answer, Call, DexDeployment, FindPools, FoundPool, Inquiry } from '../../protocol.ts'
import { addressAt, callData, itemsAt, listAt, uintAt } from '../abi.ts'

/** get_coins(address) */
const GET_COINS = '0x9ac90d3d'
/** get_underlying_coins(address): in some registries only for metapools. */
const GET_UNDERLYING_COINS = '0xa77576ef'

/** find_pool_for_coins(address from, address to, uint256 index): zero after the last one. */
const FIND_POOL_FOR_COINS = '0x6982eb0b'

const MAX_COINS = 8
/** Pools of the same two coins in one factory. */
const MAX_POOLS = 3
const NOBODY = '0x0000000000000000000000000000000000000000'
/** Curve's placeholder for the native coin. */
const NATIVE = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'

/** Deployments are factories and registries alike; the first one that knows the pool's coins confirms it. */
export function* identify(pool: string, deployments: readonly DexDeployment[]): Inquiry {
  const answers: readonly Answer[] = yield coinCalls(pool, deployments)
  return confirmed(deployments, answers)
}

/** Factories and registries list the pools of two coins. */
export function* findPools(
  ...[token, quoteAssets, deployments]: Parameters<FindPools>
): ReturnType<FindPools> {
  const pools = new Set<string>()
  let open = deployments.flatMap(({ factory }) =>
    quoteAssets.filter((quote) => quote !== token).map((quote) => ({ factory, quote })),
  )
  for (let index = 0; index < MAX_POOLS && open.length > 0; index++) {
    const answers: readonly Answer[] = yield open.map(({ factory, quote }) => ({
      to: factory,
      data: callData(FIND_POOL_FOR_COINS, toCoin(token), toCoin(quote), index),
    }))
    const found = answers.map((answer) => addressAt(answer, 0) ?? NOBODY)
    for (const pool of found) if (pool !== NOBODY) pools.add(pool)
    open = open.filter((_, at) => found[at] !== NOBODY)
  }
  const all = [...pools]
  const answers: readonly Answer[] = yield all.flatMap((pool) => coinCalls(pool, deployments))
  const perPool = answers.length / all.length
  return all.flatMap((address, at) => {
    const pool = confirmed(deployments, answers.slice(at * perPool, (at + 1) * perPool))
    return pool?.tokens.includes(token) ? { address, ...pool } : []
  })
}

function coinCalls(pool: string, deployments: readonly DexDeployment[]): Call[] {
  return deployments.flatMap(({ factory }) => [
    { to: factory, data: callData(GET_COINS, pool) },
    { to: factory, data: callData(GET_UNDERLYING_COINS, pool) },
  ])
}

function confirmed(deployments: readonly DexDeployment[], answers: readonly Answer[]): FoundPool | undefined {
  for (const [at, { factory }] of deployments.entries()) {
    const coins = readCoins(answers[2 * at])
    if (coins === undefined) continue
    const tokens = toTokens(coins, readCoins(answers[2 * at + 1]))
    return tokens && { factory, tokens, pricing: { kind: 'trades' }, reservesBefore: undefined }
  }
  return undefined
}

/** The pool's own coins, followed by the base pool's coins for a metapool. */
function toTokens(coins: readonly string[], underlying: readonly string[] | undefined): string[] | undefined {
  const [first] = coins
  if (underlying === undefined) return [...coins]
  if (coins.length === 2 && underlying.length > 2 && underlying[0] === first) {
    return [...coins, ...underlying.slice(1)]
  }
  // A lending pool: its underlying coins look like those of a metapool, but are not the coins it trades.
  const isLending = underlying.length === coins.length && underlying.some((coin, at) => coin !== coins[at])
  return isLending ? undefined : [...coins]
}

/** Some registries return a dynamic array, some a fixed-size array padded with zeros. */
function readCoins(answer: Answer): string[] | undefined {
  const words = Math.min(MAX_COINS, Math.floor((answer?.length ?? 0) / 32))
  const isList = uintAt(answer, 0) === 32n
  const filled = isList ? listAt(answer, 0, addressAt) : itemsAt(answer, 0, words, addressAt)
  if (filled === undefined) return undefined
  const end = filled.indexOf(NOBODY)
  const coins = end === -1 ? filled : filled.slice(0, end)
  if (coins.length < 2 || coins.length > MAX_COINS) return undefined
  return coins.map((coin) => (coin === NATIVE ? NOBODY : coin))
}

function toCoin(token: string): string {
  return token === NOBODY ? NATIVE : token
}
