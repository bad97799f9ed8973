import type { Hex } from 'viem'

/** The responses we use, as nodes spell them. Every reader checks the fields it uses. */
export type RpcBlock = {
  number: Hex | null
  hash: Hex | null
  parentHash: Hex
  timestamp: Hex
  logsBloom: Hex | null
  receiptsRoot?: Hex | null
  transactions: readonly unknown[]
}

export type RpcReceipt = {
  blockHash: Hex
  transactionHash: Hex
  transactionIndex: Hex
  from: Hex
  /** Left out by old nodes for transactions from before there were types. */
  type?: Hex | null
  status?: Hex | null
  /** Instead of the status, before Byzantium. */
  root?: Hex | null
  cumulativeGasUsed?: Hex | null
  logsBloom?: Hex | null
  /** OP-stack deposits only. */
  depositNonce?: Hex | null
  depositReceiptVersion?: Hex | null
  logs: readonly RpcLog[]
}

export type RpcLog = {
  blockHash: Hex
  logIndex: Hex
  address: Hex
  topics: readonly Hex[]
  data: Hex
}

/** A log found by itself says which transaction it is of. */
export type RpcFoundLog = RpcLog & { transactionHash: Hex; transactionIndex: Hex; removed?: boolean }

/** A transaction as a block holds it that was asked for in full. */
export type RpcTransaction = { hash: Hex; from: Hex; transactionIndex: Hex | null; blockHash: Hex | null }
