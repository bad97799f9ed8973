import type { StoredCandles } from '../support/reference/store-dump.ts'
import { RECENT_CANDLES } from './world.ts'

/** `Swap` of a Uniswap V2 pair. */
const SWAP_TOPIC = '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822'

/** The public ids of all swaps of a pair, by the node's own word. */
export async function swapIds(rpcUrl: string, pair: string, fromBlock: number): Promise<string[]> {
  const filter = { address: pair, topics: [SWAP_TOPIC], fromBlock: hex(fromBlock), toBlock: 'latest' }
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [filter] }),
  })
  const { result } = (await response.json()) as { result: { blockNumber: string; logIndex: string }[] }
  return result.map(({ blockNumber, logIndex }) => `${Number(blockNumber)}-${Number(logIndex)}`)
}

/** When the older candles of a series are dropped depends on how many arrive at a time; the newest are always there. */
export function newestCandlesOnly(candlesByInterval: unknown): unknown {
  return Object.entries(candlesByInterval as StoredCandles).map(([interval, { candles }]) => [
    interval,
    candles.slice(0, RECENT_CANDLES),
  ])
}

function hex(number: number): string {
  return `0x${number.toString(16)}`
}
