import { JsonRpcClient } from '../../chain/rpc/json-rpc-client.ts'
import { toSolanaFailure } from '../../chain/solana/rpc-failure.ts'
import type { SolanaChainConfig } from '../../config/schema.ts'
import { type Finding, note, ok, problem } from './finding.ts'

type Chain = Pick<SolanaChainConfig, 'genesis_hash' | 'rpc_timeout_ms' | 'simulate' | 'quote_assets'>

const RECENT_SLOTS = 32

/** Asks a node for what the reader will ask it for. */
export async function checkSolanaNode(
  url: string,
  index: number,
  name: string,
  chain: Chain,
): Promise<{ readonly findings: readonly Finding[]; readonly head: number | undefined }> {
  const client = new JsonRpcClient(url, index, toSolanaFailure, { timeoutMs: chain.rpc_timeout_ms })
  const about = `${name} ${client.label}`
  const ask = (method: string, ...params: unknown[]): Promise<unknown> =>
    client.request(method, params, new AbortController().signal)
  const findings: Finding[] = []
  let head: number | undefined
  try {
    const genesis = await ask('getGenesisHash')
    if (genesis !== chain.genesis_hash) {
      const text = `serves the cluster ${String(genesis)}, not ${chain.genesis_hash}`
      return { findings: [problem(about, text, 'Use the URL of a node of this cluster.')], head }
    }
    head = Number(await ask('getBlockHeight', { commitment: 'finalized' }))
    findings.push(ok(about, `serves the cluster, finalized height ${head}`))
    const slot = Number(await ask('getSlot', { commitment: 'confirmed' }))
    const slots = await ask('getBlocksWithLimit', slot - RECENT_SLOTS, 1, { commitment: 'confirmed' })
    const first: unknown = Array.isArray(slots) ? slots[0] : undefined
    const options = {
      commitment: 'confirmed',
      encoding: 'base64',
      transactionDetails: 'none',
      rewards: false,
    }
    await ask('getBlock', first, { ...options, maxSupportedTransactionVersion: 0 })
    findings.push(ok(about, 'getBlocksWithLimit, getBlock'))
    const mint = chain.quote_assets[0]?.address
    await ask('getMultipleAccounts', [mint], { commitment: 'confirmed', encoding: 'base64' })
    findings.push(ok(about, 'getMultipleAccounts'))
  } catch (error) {
    const advice =
      'Check the URL in rpc_urls; the node must serve blocks and accounts (--enable-rpc-transaction-history).'
    findings.push(problem(about, error instanceof Error ? error.message : String(error), advice))
    return { findings, head }
  }
  if (!chain.simulate) return { findings, head }
  try {
    await ask('getTokenLargestAccounts', chain.quote_assets[0]?.address, { commitment: 'confirmed' })
    findings.push(ok(about, 'getTokenLargestAccounts'))
  } catch (error) {
    const text = `no getTokenLargestAccounts: ${error instanceof Error ? error.message : String(error)}`
    findings.push(
      note(
        about,
        text,
        'Taxes and honeypots stay unknown with this node; simulate: false saves the requests.',
      ),
    )
  }
  return { findings, head }
}
