import type { CreatedPool } from '../../../domain/created-pool.ts'
import type { DexDeployment, StateInquiry } from '../../protocol.ts'
import { bitsOf, loadSlots, slotOfEntry, slotOfPool } from '../storage-slots.ts'

/** The storage slot of the bin pool manager's pools by id. */
const POOLS = 5n
/** Places after the slot of the pool itself, which has the active bin in its lowest 24 bits. */
const RESERVES = 1n
const TREE = [4n, 5n, 6n] as const
/** A pool with more bins that hold something is not read; its reserves stay unknown. */
const MAX_BINS = 2_000

const ID_BITS = 24
const AMOUNT_BITS = 128
/** Children of a node of the tree, by the bits of its word. */
const BRANCHES = 256

/**
 * The vault holds the tokens of all pools together, so a pool's reserves are those of its bins. A tree of three levels has
 * the ids of the bins that hold something; each bin has both amounts in one word.
 */
export function* readBinState({ address }: CreatedPool, { factory }: DexDeployment): StateInquiry {
  const slot = slotOfPool(address, POOLS)
  const [slot0, root] = yield* loadSlots(factory, [slot, slot + TREE[0]])
  const id = slot0 === undefined ? 0 : Number(BigInt.asUintN(ID_BITS, slot0))
  // The manager initializes no pool with bin zero.
  if (id === 0) return undefined
  const price = { kind: 'bin', id } as const
  const unknown = { price, reserves: undefined }
  if (root === undefined) return unknown
  let nodes = bitsOf(root)
  for (const level of [TREE[1], TREE[2]]) {
    const words = yield* loadSlots(
      factory,
      nodes.map((node) => slotOfEntry(node, slot + level)),
    )
    if (words.some((word) => word === undefined)) return unknown
    nodes = nodes.flatMap((node, at) => bitsOf(words[at] ?? 0n).map((bit) => node * BRANCHES + bit))
    if (nodes.length > MAX_BINS) return unknown
  }
  const bins = yield* loadSlots(
    factory,
    nodes.map((bin) => slotOfEntry(bin, slot + RESERVES)),
  )
  let [reserve0, reserve1] = [0n, 0n]
  for (const bin of bins) {
    if (bin === undefined) return unknown
    reserve0 += BigInt.asUintN(AMOUNT_BITS, bin)
    reserve1 += bin >> BigInt(AMOUNT_BITS)
  }
  return { price, reserves: [reserve0, reserve1] }
}
