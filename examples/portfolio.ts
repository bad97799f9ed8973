/**
 * What a wallet holds, in dollars: balances from your node, up to 200 prices in one request.
 *
 *     URL=http://127.0.0.1:8080 KEY=ctk_… RPC=http://127.0.0.1:8545 CHAIN=base WALLET=0x… TOKENS=tokens.txt node portfolio.ts
 *
 * `TOKENS` is a file with the address of a token in each line.
 */
import { readFileSync } from 'node:fs'
import { createClient } from '@chaintape/client'

const { URL: url = 'http://127.0.0.1:8080', KEY: key = '', CHAIN: chain = '' } = process.env
const { RPC: rpc = 'http://127.0.0.1:8545', WALLET: wallet = '', TOKENS: list = 'tokens.txt' } = process.env
const PRICES_PER_REQUEST = 200
const CALLS_PER_BATCH = 100
const BALANCE_OF = `0x70a08231${wallet.toLowerCase().replace('0x', '').padStart(64, '0')}`
const DECIMALS = '0x313ce567'
/** No real token has more; a hostile one may return any number. */
const MAX_DECIMALS = 36n

const tokens = [...new Set(readFileSync(list, 'utf8').toLowerCase().split('\n').filter(Boolean))]
const client = createClient({ url, key })

const [balances, decimals] = [await callAll(BALANCE_OF), await callAll(DECIMALS)]
const held = tokens.filter((_, at) => (balances[at] ?? 0n) > 0n)
const prices = new Map<string, string>()
for (let at = 0; at < held.length; at += PRICES_PER_REQUEST) {
  const ids = held.slice(at, at + PRICES_PER_REQUEST).map((token) => `${token}-${chain}`)
  // Without a minimum, thin pools have prices, too; the default leaves out what is easy to manipulate.
  for (const [id, price] of Object.entries(await client.rest.tokenPrices({ token_ids: ids })))
    if (price.current_price_usd !== undefined) prices.set(id, price.current_price_usd)
}

let total = 0
const unknown: string[] = []
for (const [at, token] of tokens.entries()) {
  const balance = balances[at] ?? 0n
  if (balance === 0n) continue
  const price = prices.get(`${token}-${chain}`)
  const places = decimals[at]
  if (price === undefined || places === undefined || places > MAX_DECIMALS) {
    unknown.push(token)
    continue
  }
  const amount = Number(balance) / 10 ** Number(places)
  total += amount * Number(price)
  console.log(`${token} ${amount} × $${price} = $${(amount * Number(price)).toFixed(2)}`)
}
console.log(`total $${total.toFixed(2)}, and ${unknown.length} tokens without a price`)

/** One call of every token; `undefined` where the answer is no number. */
async function callAll(data: string): Promise<(bigint | undefined)[]> {
  const results: (bigint | undefined)[] = []
  for (let from = 0; from < tokens.length; from += CALLS_PER_BATCH) {
    const batch = tokens.slice(from, from + CALLS_PER_BATCH).map((to, at) => ({
      ...{ jsonrpc: '2.0', id: from + at, method: 'eth_call' },
      params: [{ to, data }, 'latest'],
    }))
    const headers = { 'Content-Type': 'application/json' }
    const response = await fetch(rpc, { method: 'POST', headers, body: JSON.stringify(batch) })
    if (!response.ok) throw new Error(`${rpc}: ${response.status} ${await response.text()}`)
    const answers = (await response.json()) as { readonly id: number; readonly result?: string }[]
    for (const { id, result } of answers)
      results[id] = /^0x[0-9a-f]{64}$/.test(result ?? '') ? BigInt(result as string) : undefined
  }
  return results
}
