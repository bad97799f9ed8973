import assert from 'node:assert/strict'
import { continues, type HeadMeaning, isDeepFork, readHead } from '../../src/chain/link.ts'
import { ReaderIndex } from '../../src/chain/reader-index.ts'
import type { Header } from '../../src/chain/source.ts'
import type { BlockRef, Envelope } from '../../src/domain/envelope.ts'
import { MemoryState } from '../support/rigs/memory-state.ts'
import type { Random } from './random.ts'

/**
 * A small random tree of blocks is the oracle: parents are known from how it grew, so the meaning of a head or block
 * follows without comparing numbers or hashes the way the program does.
 */

type Node = { readonly header: Header; readonly parent: Node | undefined; readonly height: number }

/** The index is much slower than the two comparisons; this often is often enough. */
const INDEX_SHARE = 1 / 16

export function fuzz(random: Random): void {
  const tree = grow(random)
  const tip = random.chance(0.05) ? undefined : random.pick(tree)
  const next = random.pick(tree)
  checkHead(tip, next)
  checkLink(random, tip, next)
  checkDepth(random, tip ?? next)
  if (random.chance(INDEX_SHARE)) checkIndex(random)
}

function grow(random: Random): Node[] {
  const first = random.chance(0.1) ? Number.MAX_SAFE_INTEGER - 20 : random.pick([0, 1, 9, 99, 2 ** 32 - 3])
  const root = blockOn(undefined, first, random)
  const tree = [root]
  const size = random.between(1, 12)
  while (tree.length < size) {
    // Mostly on the newest, so that branches become long enough to differ in height.
    const parent = random.chance(0.6) ? (tree.at(-1) as Node) : random.pick(tree)
    tree.push(blockOn(parent, parent.height + 1, random))
  }
  return tree
}

function blockOn(parent: Node | undefined, number: number, random: Random): Node {
  const hash = randomHash(random)
  const parentHash = parent?.header.hash ?? randomHash(random)
  return { header: { number, hash, parentHash, time: random.below(2 ** 31) }, parent, height: number }
}

function randomHash(random: Random): string {
  return `0x${random
    .below(2 ** 32)
    .toString(16)
    .padStart(8, '0')}${random.below(2 ** 32).toString(16)}`
}

function checkHead(tip: Node | undefined, head: Node): void {
  assert.equal(readHead(tip?.header, head.header), meaningOf(tip, head))
}

function meaningOf(tip: Node | undefined, head: Node): HeadMeaning {
  if (tip === undefined) return 'ahead'
  if (tip === head) return 'idle'
  // Step down both together: whose way to the root ends first is the lower one.
  let [a, b]: (Node | undefined)[] = [tip, head]
  while (a !== undefined && b !== undefined) {
    a = a.parent
    b = b.parent
  }
  if (a === undefined && b === undefined) return 'fork'
  return a === undefined ? 'ahead' : 'stale'
}

function checkLink(random: Random, tip: Node | undefined, next: Node): void {
  const isChild = tip === undefined || next.parent === tip
  assert.equal(continues(tip?.header, next.header), isChild)
  if (tip === undefined) return
  const child = blockOn(tip, tip.height + 1, random)
  assert.equal(continues(tip.header, child.header), true)
  assert.equal(continues(tip.header, mutated(random, child.header)), false)
}

/** Undone one by one, how many blocks is it to the ancestor? */
function checkDepth(random: Random, tip: Node): void {
  let ancestor = tip
  let steps = 0
  for (let left = random.below(12); left > 0 && ancestor.parent !== undefined; left--) {
    ancestor = ancestor.parent
    steps++
  }
  assert.equal(isDeepFork(tip.header, ancestor.header), steps >= 8)
}

/** A child of the tip with one thing wrong that makes it no child. */
function mutated(random: Random, header: Header): Header {
  const { number, parentHash } = header
  switch (random.below(4)) {
    case 0:
      return { ...header, number: number + random.pick([-2, -1, 1, 2, random.between(3, 1_000_000)]) }
    case 1:
      return { ...header, parentHash: `${parentHash}0` }
    case 2:
      return { ...header, parentHash: parentHash.slice(0, -1) }
    default: {
      const at = random.below(parentHash.length)
      const other = parentHash[at] === '1' ? '2' : '1'
      return { ...header, parentHash: parentHash.slice(0, at) + other + parentHash.slice(at + 1) }
    }
  }
}

/** A random log, folded by the index, with commits and crashes in between, and by a plain list. */
function checkIndex(random: Random): void {
  const store = new MemoryState()
  let index = new ReaderIndex(store)
  const first = random.pick([0, 1, 100])
  const before: BlockRef = { number: first - 1, hash: randomHash(random) }
  const blocks: { ref: BlockRef; pools: readonly string[] }[] = []
  let floor = first - 1
  let uncommitted: Envelope[] = []
  for (let step = random.between(1, 12); step > 0; step--) {
    const tip = blocks.at(-1)?.ref ?? before
    // Nothing comes before the very first block: it cannot be undone.
    if (first === 0 && blocks.length > 0) floor = Math.max(floor, 0)
    const envelope = randomEnvelope(random, tip, floor, (number) => blocks[number - first]?.ref ?? before)
    if (envelope.kind === 'block') {
      const pools = envelope.facts.flatMap((fact) => (fact.type === 'pool' ? [fact.address] : []))
      blocks.push({ ref: { number: envelope.number, hash: envelope.hash }, pools })
    } else if (envelope.kind === 'undo') blocks.length = envelope.lastValid.number - first + 1
    else if (envelope.kind === 'final') floor = envelope.upTo.number
    index.apply(envelope)
    uncommitted.push(envelope)
    if (random.chance(0.3)) {
      store.write(index.pending())
      index.committed()
      uncommitted = []
    } else if (random.chance(0.2)) {
      index = new ReaderIndex(store)
      for (const again of uncommitted) index.apply(again)
    }
    assert.deepEqual(index.tip, blocks.at(-1)?.ref)
    const at = random.between(Math.max(0, floor), tip.number + 2)
    const expected = at < first ? (at === floor ? before : undefined) : blocks[at - first]?.ref
    assert.equal(index.hashAt(at), expected?.hash)
    const pool = random.pick(POOLS)
    const isKnown = blocks.some(({ pools }) => pools.includes(pool))
    assert.equal(index.knowsPool(pool), isKnown)
  }
}

const POOLS = ['0xaa', '0xbb', '0xcc']

function randomEnvelope(
  random: Random,
  tip: BlockRef,
  floor: number,
  at: (number: number) => BlockRef,
): Envelope {
  const chain = 'testchain'
  const above = tip.number - floor
  if (above > 0 && random.chance(0.25)) {
    return { kind: 'undo', chain, lastValid: at(floor + random.below(above)) }
  }
  if (above > 0 && random.chance(0.2)) {
    return { kind: 'final', chain, upTo: at(floor + 1 + random.below(above)) }
  }
  const facts = POOLS.filter(() => random.chance(0.15)).map((address) => {
    const tokens = ['0x0', '0x1']
    const pricing = { kind: 'reserves' as const }
    return { type: 'pool' as const, address, factory: '0xf', tokens, pricing, reservesBefore: undefined }
  })
  const { number, hash: parentHash } = tip
  return {
    kind: 'block',
    chain,
    number: number + 1,
    hash: randomHash(random),
    parentHash,
    time: number + 1,
    transactions: [],
    facts,
  }
}
