/**
 * Prints every token that is launched on a platform of the chain, or graduates there, and whether it passes a risk filter; again
 * when that changes.
 *
 *     URL=http://127.0.0.1:8080 KEY=ctk_… CHAIN=bsc node launch-watcher.ts
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, isApiError } from '@chaintape/client'
import { objections } from './risk-filter.ts'

const { URL: url = 'http://127.0.0.1:8080', KEY: key = '', CHAIN: chain = '' } = process.env
const POLL_MS = 2_000
/** The newest of each list: a list that grows faster than this between two looks needs a shorter pause. */
const NEWEST = 20

const client = createClient({ url, key })
const verdicts = new Map<string, string>()

const { platforms } = (await client.rest.chains()).find((one) => one.chain === chain) ?? { platforms: [] }
if (platforms.length === 0) throw new Error(`${url} has no launch platform on '${chain}'`)

for (;;) {
  for (const tag of platforms.flatMap((platform) => [`${platform}_in_new`, `${platform}_out_new`])) {
    const tokens = await client.rest.platformTokens({ tag, limit: NEWEST })
    for (const { token, symbol } of tokens.filter((one) => one.chain === chain)) {
      const verdict = await verdictOf(`${token}-${chain}`)
      if (verdict === undefined || verdicts.get(token) === verdict) continue
      verdicts.set(token, verdict)
      // A symbol is any text that its creator likes, control characters included.
      console.log(`${tag} ${token} ${JSON.stringify(symbol)}: ${verdict}`)
    }
  }
  await sleep(POLL_MS)
}

async function verdictOf(tokenId: string): Promise<string | undefined> {
  try {
    return objections(await client.rest.contract(tokenId)).join('; ') || 'passes'
  } catch (error) {
    // A reorg removed it since.
    if (isApiError(error, 'unknown_token')) return undefined
    throw error
  }
}
