import { toEvmFailure } from '../../chain/evm/rpc/evm-failure.ts'
import { JsonRpcClient } from '../../chain/rpc/json-rpc-client.ts'
import type { EvmChainConfig } from '../../config/schema.ts'
import { type Finding, note, ok, problem } from './finding.ts'

type Chain = Pick<EvmChainConfig, 'chain_id' | 'finality_depth' | 'receipts_root' | 'rpc_timeout_ms'>
type Block = { readonly number: string; readonly hash: string; readonly timestamp: string }

/** What a node can do for a reader. */
export type EvmNodeReport = {
  readonly label: string
  readonly findings: readonly Finding[]
  /** Undefined if the node does not answer, or serves another chain. */
  readonly head: number | undefined
  readonly hasFinalized: boolean
}

/** Creation code that returns the word 1, and the same as the code of a contract. */
const RETURN_ONE = '0x600160005260206000f3'
const ONE = `0x${'1'.padStart(64, '0')}`
const ANYONE = `0x${'c0de'.padStart(40, '0')}`
/** A head that is older belongs to a node that is syncing, or the clocks disagree. */
const MAX_HEAD_AGE_S = 300

/** Asks a node for everything that the reader will ask it for. */
export async function checkEvmNode(
  url: string,
  index: number,
  name: string,
  chain: Chain,
): Promise<EvmNodeReport> {
  const client = new JsonRpcClient(url, index, toEvmFailure, { timeoutMs: chain.rpc_timeout_ms })
  const about = `${name} ${client.label}`
  const ask = (method: string, ...params: unknown[]): Promise<unknown> =>
    client.request(method, params, new AbortController().signal)
  const unusable = (text: string, advice: string): EvmNodeReport => ({
    ...{ label: client.label, findings: [problem(about, text, advice)] },
    ...{ head: undefined, hasFinalized: false },
  })
  let served: number
  let head: Block
  try {
    served = Number(await ask('eth_chainId'))
    head = (await ask('eth_getBlockByNumber', 'latest', false)) as Block
  } catch (error) {
    const advice = 'Check the URL in rpc_urls, and that the node serves JSON-RPC over HTTP there.'
    return unusable(`does not answer: ${textOf(error)}`, advice)
  }
  if (served !== chain.chain_id)
    return unusable(
      `serves chain ${served}, not ${chain.chain_id}`,
      'Use the URL of a node of this chain, or correct chain_id.',
    )
  const number = Number(head?.number)
  if (!Number.isSafeInteger(number)) return unusable('has no newest block', 'Wait until the node is in sync.')

  const findings: Finding[] = [ok(about, `serves chain ${served}, block ${number}`)]
  /** Adds a finding if the answer to this request is not as it should be. */
  const expect = async (
    what: string,
    request: () => Promise<unknown>,
    isRight: (answer: unknown) => boolean,
    otherwise: (reason: string) => Finding,
  ): Promise<boolean> => {
    let reason = 'unexpected answer'
    try {
      if (isRight(await request())) {
        findings.push(ok(about, what))
        return true
      }
    } catch (error) {
      reason = textOf(error)
    }
    findings.push(otherwise(reason))
    return false
  }
  const age = Math.round(Date.now() / 1_000 - Number(head.timestamp))
  if (Math.abs(age) > MAX_HEAD_AGE_S)
    findings.push(
      note(
        about,
        `newest block is ${age} s old by this clock`,
        'The node is syncing, or a clock is wrong (check NTP).',
      ),
    )
  const hasFinalized = await expect(
    'finalized blocks',
    () => ask('eth_getBlockByNumber', 'finalized', false),
    (block) => block !== null,
    (reason) =>
      chain.finality_depth === undefined
        ? problem(about, `no finalized blocks: ${reason}`, 'Set finality_depth (docs/add-a-chain.md).')
        : ok(about, `no finalized blocks; finality_depth is ${chain.finality_depth}`),
  )
  await expect(
    'eth_getBlockReceipts',
    () => ask('eth_getBlockReceipts', head.hash),
    Array.isArray,
    (reason) =>
      chain.receipts_root === 'verified'
        ? note(
            about,
            `no eth_getBlockReceipts: ${reason}`,
            'Blocks are read by their logs and not proved. Use a node that has it (geth, reth, erigon and nethermind do).',
          )
        : ok(about, 'no eth_getBlockReceipts; receipts_root is unverifiable'),
  )
  await expect(
    'eth_getLogs',
    () => ask('eth_getLogs', { blockHash: head.hash }),
    Array.isArray,
    (reason) =>
      problem(about, `no eth_getLogs: ${reason}`, 'Enable it: histories and new exchanges are read by it.'),
  )
  await expect(
    'eth_call of creation code',
    () => ask('eth_call', { data: RETURN_ONE }, { blockHash: head.hash }),
    (answer) => answer === ONE,
    (reason) =>
      problem(
        about,
        `no eth_call of creation code by block hash: ${reason}`,
        'Without it no token is read. Use a node that follows EIP-1898.',
      ),
  )
  await expect(
    'state overrides',
    () => ask('eth_call', { to: ANYONE }, { blockHash: head.hash }, { [ANYONE]: { code: RETURN_ONE } }),
    (answer) => answer === ONE,
    (reason) =>
      note(
        about,
        `no state overrides in eth_call: ${reason}`,
        'Taxes and honeypots stay unknown with this node.',
      ),
  )
  const simulation = {
    blockStateCalls: [{ stateOverrides: { [ANYONE]: { code: RETURN_ONE } }, calls: [{ to: ANYONE }] }],
  }
  await expect(
    'eth_simulateV1',
    () => ask('eth_simulateV1', simulation, { blockHash: head.hash }),
    Array.isArray,
    (reason) => note(about, `no eth_simulateV1: ${reason}`, 'Simulated trades are not made by this node.'),
  )
  await expect(
    'logs of the first blocks',
    () => ask('eth_getLogs', { fromBlock: '0x1', toBlock: '0x1' }),
    Array.isArray,
    (reason) =>
      note(
        about,
        `no logs of the first blocks: ${reason}`,
        'Holders of tokens older than its logs stay incomplete; `chaintape holders import` fills them in.',
      ),
  )
  return { label: client.label, findings, head: number, hasFinalized }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
