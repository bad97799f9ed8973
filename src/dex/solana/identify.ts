import type { Pricing, RawLog } from '../../domain/envelope.ts'
import type { DexDeployment, Identify, Inquiry } from '../protocol.ts'
import { mintsOf, type PoolAccounts, vaultPool } from './vault-events.ts'

/** What an instruction proves about its pool: the program has checked its accounts. */
export type ProvedPool = {
  readonly pool: string
  readonly tokens: readonly [string, string]
  readonly goalRaw?: bigint | undefined
}

/**
 * Identifies a pool by an instruction that used it. No call is needed: the instruction has succeeded, so the program has
 * compared the accounts with the pool's state.
 */
export function identifyBy(
  proofIn: (log: RawLog) => ProvedPool | undefined,
  pricing: Pricing = { kind: 'sqrtPrice' },
): Identify {
  return function* identify(pool: string, deployments: readonly DexDeployment[], log?: RawLog): Inquiry {
    yield []
    const factory = deployments.find((deployment) => deployment.factory === log?.address)?.factory
    const proof = log === undefined ? undefined : proofIn(log)
    if (factory === undefined || proof === undefined || proof.pool !== pool) return undefined
    const { tokens, goalRaw } = proof
    const found = { factory, tokens, pricing, reservesBefore: undefined }
    return goalRaw === undefined || goalRaw <= 0n ? found : { ...found, goalRaw }
  }
}

/** The pool of an instruction and the mints of its vaults. */
export function poolByVaults(
  log: RawLog,
  placesOf: (log: RawLog) => PoolAccounts | undefined,
): ProvedPool | undefined {
  const places = placesOf(log)
  const found = places === undefined ? undefined : vaultPool(log, places)
  if (found === undefined) return undefined
  const { record, pool, vaults } = found
  const mints = mintsOf(record, vaults[0], vaults[1])
  return mints === undefined ? undefined : { pool, tokens: [record.text(mints[0]), record.text(mints[1])] }
}
