import type { Answer, DexDeployment, Inquiry } from '../../protocol.ts'
import { addressAt, callData, itemsAt, listAt, uintAt } from '../abi.ts'

/** get_coins(address) */
const GET_COINS = '0x9ac90d3d'
/** get_underlying_coins(address): of some registries only for pools over another pool. */
const GET_UNDERLYING_COINS = '0xa77576ef'

const MAX_COINS = 8
const NOBODY = '0x0000000000000000000000000000000000000000'
/** What Curve calls the chain's own coin. */
const NATIVE = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'

/** The deployments are factories and registries alike: the first to know the pool's coins vouches for it. */
export function* identify(pool: string, deployments: readonly DexDeployment[]): Inquiry {
  const answers: readonly Answer[] = yield deployments.flatMap(({ factory }) => [
    { to: factory, data: callData(GET_COINS, pool) },
    { to: factory, data: callData(GET_UNDERLYING_COINS, pool) },
  ])
  for (const [at, { factory }] of deployments.entries()) {
    const coins = readCoins(answers[2 * at])
    if (coins === undefined) continue
    const tokens = toTokens(coins, readCoins(answers[2 * at + 1]))
    return tokens && { factory, tokens, pricing: { kind: 'trades' }, reservesBefore: undefined }
  }
  return undefined
}

/** The pool's own coins, and for a pool over another pool those of the latter after them. */
function toTokens(coins: readonly string[], underlying: readonly string[] | undefined): string[] | undefined {
  const [first] = coins
  if (underlying === undefined) return [...coins]
  if (coins.length === 2 && underlying.length > 2 && underlying[0] === first) {
    return [...coins, ...underlying.slice(1)]
  }
  // It lends its coins out: what it says of those underneath reads just like what a pool over another pool
  // says, and would be taken for other tokens than were traded.
  const isLending = underlying.length === coins.length && underlying.some((coin, at) => coin !== coins[at])
  return isLending ? undefined : [...coins]
}

/** Some answer with a list of its own length, some with one of a fixed length filled up with zeros. */
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
