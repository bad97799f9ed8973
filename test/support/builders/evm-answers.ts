import type { Hex } from 'viem'
import { bloomOf, receiptsRootOf } from '../../../src/chain/evm/proof/verify-receipts.ts'
import type { EvmNode, EvmNodes, EvmRpc } from '../../../src/chain/evm/rpc/rpc.ts'
import type { RpcBlock, RpcLog, RpcReceipt } from '../../../src/chain/evm/rpc/rpc-answers.ts'
import type { Header } from '../../../src/chain/source.ts'

export const hash = (name: string): Hex => `0x${Buffer.from(name).toString('hex').padStart(64, '0')}`
export const address = (name: string): Hex => `0x${Buffer.from(name).toString('hex').padStart(40, '0')}`
export const EMPTY_BLOOM: Hex = `0x${'0'.repeat(512)}`

export const header: Header = {
  number: 16,
  hash: hash('block'),
  parentHash: hash('parent'),
  time: 1_700_000_000,
}

export const rpcLog = (index: number, changes: Partial<RpcLog> = {}): RpcLog => ({
  blockHash: header.hash as Hex,
  logIndex: `0x${index.toString(16)}`,
  address: address('pool'),
  topics: [hash('topic')],
  data: '0x0102ff',
  ...changes,
})
export const receipt = (index: number, logs: RpcLog[], changes: Partial<RpcReceipt> = {}): RpcReceipt => ({
  blockHash: header.hash as Hex,
  transactionHash: hash(`tx${index}`),
  transactionIndex: `0x${index.toString(16)}`,
  from: address('wallet'),
  type: '0x2',
  status: '0x1',
  cumulativeGasUsed: `0x${(21_000 * (index + 1)).toString(16)}`,
  logs,
  ...changes,
})
export const goodReceipts = [receipt(0, [rpcLog(0), rpcLog(1)]), receipt(1, []), receipt(2, [rpcLog(2)])]
export const rpcBlock = (changes: Partial<RpcBlock> = {}): RpcBlock => ({
  number: '0x10',
  hash: header.hash as Hex,
  parentHash: header.parentHash as Hex,
  timestamp: '0x6553f100',
  logsBloom: `0x${bloomOf(goodReceipts.flatMap(({ logs }) => logs)).toString('hex')}`,
  receiptsRoot: receiptsRootOf(goodReceipts),
  transactions: [hash('tx0'), hash('tx1'), hash('tx2')],
  ...changes,
})

/** One node, and what was said of it. */
export function soleNode(rpc: Partial<EvmRpc>) {
  const reports = { unproved: 0, blamed: [] as string[] }
  const unproved = (): void => {
    reports.unproved += 1
  }
  const node = { ...rpc, label: 'sole', unproved } as EvmNode
  const nodes: Pick<EvmNodes, 'verified' | 'elsewhere' | 'blame'> = {
    verified: (ask) => ask(node),
    elsewhere: async () => ({ asked: 0, answers: [] }),
    blame: (label, reason) => void reports.blamed.push(`${label}: ${reason}`),
  }
  return { nodes, reports }
}
