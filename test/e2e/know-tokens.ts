import { setTimeout as sleep } from 'node:timers/promises'
import { zeroAddress } from 'viem'
import type { Market } from '../../dev/market/market.ts'
import { waitFor } from '../support/rigs/wait-for.ts'

const PATIENCE_MS = 60_000

type Known = { readonly risk_score?: number; readonly holders?: number }

/**
 * What is found out in the background, older transfers and what contracts can do, comes with later blocks. Mines empty
 * ones until all of it is there for all tokens but the native coin, of which there is nothing to find out.
 */
export async function knowTokens(
  pipeline: { post(path: string, body: object): Promise<{ readonly body: unknown }> },
  market: Market,
  tokens: readonly string[],
): Promise<void> {
  const token_ids = tokens.filter((token) => token !== zeroAddress).map((token) => `${token}-local`)
  let missing: readonly string[] = token_ids
  const look = async (): Promise<true | undefined> => {
    const { body } = await pipeline.post('/v2/tokens/search', { token_ids })
    const rows = body as Record<string, Known>
    missing = token_ids.filter((id) => rows[id]?.risk_score === undefined || rows[id]?.holders === undefined)
    if (missing.length === 0) return true
    await market.mine()
    await sleep(200)
    return undefined
  }
  await waitFor('all of the tokens to be known', look, PATIENCE_MS).catch((error: unknown) => {
    throw new Error(`not all is known of ${missing.join(', ')}`, { cause: error })
  })
}
