import type { Hex } from 'viem'
import { ChaintapeError } from '../../../domain/errors.ts'
import type { RpcBlock, RpcLog, RpcReceipt } from '../rpc/rpc-answers.ts'
import { keccakOf, orderedTrieRoot, rlpInteger, rlpList, rlpString } from './receipts-trie.ts'

/** `unverifiable`: the chain has receipts that the header's root does not cover, or another kind of root. */
export type ReceiptsRoot = 'verified' | 'unverifiable'

const HASH = /^0x[0-9a-f]{64}$/
const QUANTITY = /^0x[0-9a-f]{1,64}$/
const BLOOM = /^0x[0-9a-f]{512}$/
const BLOOM_BYTES = 256
const MAX_BITS_REMEMBERED = 50_000

const LEGACY = 0
/** Includes the sender's nonce since OP-stack's Canyon; Scroll's L1 messages have the same type. */
const DEPOSIT = 0x7e
/**
 * Types whose receipt is the type byte and the four legacy fields. Access list, dynamic fee, blob, set code; then
 * Arbitrum's deposit, unsigned, contract, retry, submit-retryable and internal (there is no 0x67); Polygon's state
 * sync, once it is an ordinary transaction (PIP-74).
 */
const PLAIN_TYPES = new Set([1, 2, 3, 4, 0x64, 0x65, 0x66, 0x68, 0x69, 0x6a, 0x7f])

/**
 * Compares a block's receipts with the commitments in its header. The root covers logs, topics, data, status, gas and
 * order. The bloom filters come first, because they describe the difference better; where the root cannot be
 * recomputed, they are the only check.
 */
export function verifyReceipts(
  block: RpcBlock,
  receipts: readonly RpcReceipt[],
  receiptsRoot: ReceiptsRoot,
): void {
  const name = `block ${Number(block.number)}`
  const compare = receiptsRoot === 'verified' ? expectSameBloom : expectNoBitWithoutLog
  const blooms = receipts.map(({ logs }) => bloomOf(logs))
  for (const [index, bloom] of blooms.entries()) {
    compare(`${name}, receipt ${index}`, receipts[index]?.logsBloom, bloom)
  }
  compare(name, block.logsBloom, unionOf(blooms))
  if (receiptsRoot === 'unverifiable') return

  const claimed = block.receiptsRoot
  if (typeof claimed !== 'string' || !HASH.test(claimed)) {
    throw invalid(
      `${name}: no receipts root in the header; if the chain has none, set receipts_root: unverifiable`,
    )
  }
  const actual = receiptsRootOf(receipts, blooms, name)
  if (actual !== claimed) {
    throw invalid(`${name}: its ${receipts.length} receipts hash to ${actual}, its header has ${claimed}`)
  }
}

export function receiptsRootOf(
  receipts: readonly RpcReceipt[],
  blooms: readonly Buffer[] = receipts.map(({ logs }) => bloomOf(logs)),
  name = 'block',
): Hex {
  const encodings = receipts.map((receipt, index) => {
    return encodeReceipt(`${name}, receipt ${index}`, receipt, blooms[index])
  })
  return `0x${orderedTrieRoot(encodings)}`
}

/** The filter over the addresses and topics of these logs. */
export function bloomOf(logs: readonly RpcLog[]): Buffer {
  const bloom = Buffer.alloc(BLOOM_BYTES)
  const add = (value: string): void => {
    for (const bit of bloomBitsOf(value)) {
      const byte = BLOOM_BYTES - 1 - (bit >> 3)
      bloom[byte] = (bloom[byte] ?? 0) | (1 << (bit & 7))
    }
  }
  for (const { address, topics } of logs) {
    add(address)
    for (const topic of topics) add(topic)
  }
  return bloom
}

/** The same tokens, pools and event names are in every block, and hashing them again would cost as much as the trie. */
const rememberedBits = new Map<string, readonly number[]>()

function bloomBitsOf(value: string): readonly number[] {
  const remembered = rememberedBits.get(value)
  if (remembered !== undefined) return remembered
  const hash = keccakOf(value.slice(2))
  const bits = [0, 2, 4].map((at) => hash.readUInt16BE(at) % (BLOOM_BYTES * 8))
  if (rememberedBits.size >= MAX_BITS_REMEMBERED) rememberedBits.clear()
  rememberedBits.set(value, bits)
  return bits
}

function unionOf(blooms: readonly Buffer[]): Buffer {
  const union = Buffer.alloc(BLOOM_BYTES)
  for (const bloom of blooms) {
    for (let byte = 0; byte < BLOOM_BYTES; byte += 1) union[byte] = (union[byte] ?? 0) | (bloom[byte] ?? 0)
  }
  return union
}

function expectSameBloom(name: string, claimed: Hex | null | undefined, actual: Buffer): void {
  if (claimed == null || claimed === `0x${actual.toString('hex')}`) return
  expectNoBitWithoutLog(name, claimed, actual)
  throw invalid(`${name}: has a log that is not in the bloom filter`)
}

/** Receipts outside the header may add logs, but none that the header covers may be missing. */
function expectNoBitWithoutLog(name: string, claimed: Hex | null | undefined, actual: Buffer): void {
  // Some nodes omit the filter from receipts; the root still covers the one computed from the logs.
  if (claimed == null) return
  if (!BLOOM.test(claimed)) throw invalid(`${name}: malformed bloom filter`)
  const bits = Buffer.from(claimed.slice(2), 'hex')
  if (bits.some((byte, index) => (byte & ~(actual[index] ?? 0)) !== 0)) {
    throw invalid(`${name}: the bloom filter has a log that is missing`)
  }
}

/** EIP-2718 encoding as in the trie, without the RLP string that wraps it in block bodies. */
function encodeReceipt(name: string, receipt: RpcReceipt, bloom = bloomOf(receipt.logs)): string {
  const type = receipt.type == null ? LEGACY : Number(quantity(name, receipt.type, 'type'))
  const fields =
    rlpString(outcomeOf(name, receipt)) +
    rlpInteger(quantity(name, receipt.cumulativeGasUsed, 'cumulativeGasUsed')) +
    rlpString(bloom.toString('hex')) +
    rlpList(receipt.logs.map(encodeLog).join(''))
  if (type === LEGACY) return rlpList(fields)
  const typeByte = type.toString(16).padStart(2, '0')
  if (type === DEPOSIT) return typeByte + rlpList(fields + depositFieldsOf(name, receipt))
  if (PLAIN_TYPES.has(type)) return typeByte + rlpList(fields)
  throw invalid(`${name}: unknown receipt type 0x${typeByte}`)
}

/** Before Byzantium a state root took the place of the status; like geth, a root is used if present. */
function outcomeOf(name: string, { root, status }: RpcReceipt): string {
  if (root != null && root !== '0x') {
    if (!HASH.test(root)) throw invalid(`${name}: malformed root`)
    return root.slice(2)
  }
  const value = quantity(name, status, 'status')
  if (value > 1n) throw invalid(`${name}: status is ${value}`)
  return value === 0n ? '' : '01'
}

/** Between Regolith and Canyon, nodes return the nonce although the root does not cover it, so the version decides. */
function depositFieldsOf(name: string, { depositNonce, depositReceiptVersion }: RpcReceipt): string {
  if (depositReceiptVersion == null) return ''
  return (
    rlpInteger(quantity(name, depositNonce, 'depositNonce')) +
    rlpInteger(quantity(name, depositReceiptVersion, 'depositReceiptVersion'))
  )
}

function encodeLog({ address, topics, data }: RpcLog): string {
  const topicItems = topics.map((topic) => rlpString(topic.slice(2))).join('')
  return rlpList(rlpString(address.slice(2)) + rlpList(topicItems) + rlpString(data.slice(2)))
}

function quantity(name: string, hex: Hex | null | undefined, field: string): bigint {
  if (typeof hex !== 'string' || !QUANTITY.test(hex)) throw invalid(`${name}: ${field} is ${hex}`)
  return BigInt(hex)
}

function invalid(reason: string): ChaintapeError {
  return new ChaintapeError('node_answer_invalid', reason)
}
