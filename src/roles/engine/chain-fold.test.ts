import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildBlock, CHAIN, settingsOf } from '../../../test/support/arbitraries/market-arbitraries.ts'
import { ETH_POOL, eth, sync, usd, world } from '../../../test/support/builders/example-market.ts'
import { asVersion7 } from '../../../test/support/builders/former-messages.ts'
import { HandClock } from '../../../test/support/builders/hand-clock.ts'
import { hasCode } from '../../../test/support/rigs/log-reading.ts'
import { MemoryState } from '../../../test/support/rigs/memory-state.ts'
import type { BlockEnvelope } from '../../domain/envelope.ts'
import type { LogPosition } from '../../domain/log-position.ts'
import { Engine } from '../../engine/engine.ts'
import type { LogMessage } from '../../log/chain-log.ts'
import type { Writes } from '../../state/journaled-state.ts'
import { decodeChangeSet } from '../../wire/change-codec.ts'
import { encodeEnvelope } from '../../wire/envelope-codec.ts'
import { ChainFold } from './chain-fold.ts'

const at = (seq: number): LogPosition => ({ epoch: 'test', sequence: seq, link: seq })
const chain: BlockEnvelope[] = []
for (let block = 0; block < 300; block++) {
  const actions = [sync(ETH_POOL, usd(1_000_000n + BigInt(block)), eth(500n))]
  chain.push(buildBlock(world, chain, { do: 'block', seconds: 1, actions }, 0))
}
const block = (seq: number): BlockEnvelope => chain[seq - 1] as BlockEnvelope
const message = (seq: number): Uint8Array => encodeEnvelope(block(seq))

type Opened = {
  readonly engine: Engine
  readonly fold: ChainFold
  readonly commits: number[]
  readonly confirmed: number[]
}

function open(newest?: LogMessage, committed?: LogPosition): Opened {
  const state = new MemoryState()
  const commits: number[] = []
  const confirmed: number[] = []
  const store = {
    position: committed,
    commit: (writes: Writes, position: LogPosition) => {
      commits.push(position.sequence)
      state.write(writes)
    },
  }
  const engine = new Engine(settingsOf(world), state)
  const onConfirmed = (seq: number): unknown => confirmed.push(seq)
  return { engine, fold: new ChainFold({ engine, store, newest, onConfirmed }), commits, confirmed }
}

function setOf(seq: number): Uint8Array {
  const engine = new Engine(settingsOf(world), new MemoryState())
  return chain
    .slice(0, seq)
    .map((envelope, index) => engine.apply(encodeEnvelope(envelope), index + 1))
    .at(-1) as Uint8Array
}

test('a state is committed only when all that was folded into it is confirmed', () => {
  const { fold, commits, confirmed } = open()
  for (const seq of [1, 2, 3]) fold.fold(message(seq), at(seq))
  fold.confirm(at(1))
  fold.confirm(at(2))
  assert.deepEqual(commits, [])
  fold.confirm(at(3))
  assert.deepEqual(commits, [3])
  assert.deepEqual(confirmed, [1, 2, 3])
  assert.deepEqual(fold.confirmedAt, at(3))
})

test('sets confirmed soon after a commit share the next one', () => {
  const { fold, commits } = open()
  const clock = new HandClock()
  clock.during(() => {
    for (const seq of [1, 2, 3]) {
      fold.fold(message(seq), at(seq))
      fold.confirm(at(seq))
    }
    clock.advance(4_999)
    assert.deepEqual(commits, [1])
    clock.advance(1)
    assert.deepEqual(commits, [1, 3])
  })
})

test('it is full while 256 messages are not confirmed', () => {
  const { fold, commits } = open()
  for (let seq = 1; seq <= 255; seq++) fold.fold(message(seq), at(seq))
  assert.equal(fold.isFull, false)
  fold.fold(message(256), at(256))
  assert.equal(fold.isFull, true)
  fold.confirm(at(1))
  assert.equal(fold.isFull, false)
  for (let seq = 2; seq <= 256; seq++) fold.confirm(at(seq))
  assert.deepEqual(commits, [256])
})

test('it is full while an overdue commit waits for confirmations', () => {
  const { engine, fold, commits } = open()
  const clock = new HandClock()
  clock.during(() => {
    for (const seq of [1, 2, 3]) fold.fold(message(seq), at(seq))
    assert.equal(fold.isFull, false)
    clock.advance(5_000)
    assert.equal(fold.isFull, true)
    for (const seq of [1, 2]) fold.confirm(at(seq))
    assert.deepEqual([fold.isFull, commits], [true, []])
    fold.confirm(at(3))
    assert.deepEqual([fold.isFull, commits], [false, [3]])
    fold.fold(message(4), at(4))
    assert.equal(fold.isFull, false)
    Object.defineProperty(engine, 'uncommittedBytes', { get: () => 1_000_000_000 })
    assert.equal(fold.isFull, true)
    fold.confirm(at(4))
    assert.deepEqual(commits, [3, 4], 'so much is committed before it is old')
  })
})

test('sets that CHANGES had at startup are recognized and not published again', () => {
  const { fold, confirmed } = open({ body: setOf(3), position: at(30) })
  for (const seq of [1, 2, 3, 4]) fold.fold(message(seq), at(seq))
  assert.deepEqual(confirmed, [1, 2, 3])
  assert.deepEqual(
    fold.ahead.map(({ seq }) => seq),
    [4],
  )
  assert.deepEqual(fold.confirmedAt, at(30))
})

test('sets that an engine of the former version published are recognized', () => {
  const former = (seq: number): Uint8Array => asVersion7(decodeChangeSet(setOf(seq)))
  const { fold, confirmed } = open({ body: former(3), position: at(30) })
  for (const seq of [1, 2, 3, 4]) fold.fold(message(seq), at(seq))
  assert.deepEqual(confirmed, [1, 2, 3])
  assert.ok(fold.expects(former(4)))
  assert.throws(() => fold.confirm(at(31), former(3)), hasCode('diverged'))
  fold.confirm(at(31), former(4))
  assert.deepEqual(confirmed, [1, 2, 3, 4])
})

test('another set than was published is a loud stop', () => {
  const { fold: restarted } = open({ body: setOf(3), position: at(3) })
  restarted.fold(encodeEnvelope({ ...block(1), time: 1 }), at(1))
  restarted.fold(encodeEnvelope({ ...block(2), time: 2 }), at(2))
  assert.throws(() => restarted.fold(encodeEnvelope({ ...block(3), time: 3 }), at(3)), hasCode('diverged'))
  const { fold: following } = open()
  following.fold(message(1), at(1))
  assert.throws(() => following.confirm(at(1), setOf(2)), hasCode('diverged'))
  following.confirm(at(1), setOf(1))
})

test('a CHANGES that lost what the state holds is a loud stop', () => {
  assert.throws(() => open({ body: setOf(2), position: at(2) }, at(3)), hasCode('log_truncated'))
  assert.throws(() => open(undefined, at(1)), hasCode('log_truncated'))
})

test('a message that fails half-way leaves nothing to commit', () => {
  const { fold, commits } = open()
  const clock = new HandClock()
  clock.during(() => {
    for (const seq of [1, 2]) {
      fold.fold(message(seq), at(seq))
      fold.confirm(at(seq))
    }
    assert.deepEqual(commits, [1])
    const lastValid = { number: block(1).number, hash: `0x${'ee'.repeat(32)}` }
    assert.throws(
      () => fold.fold(encodeEnvelope({ kind: 'undo', chain: CHAIN, lastValid }), at(3)),
      hasCode('broken_link'),
    )
    fold.close()
    clock.advance(10_000)
    assert.deepEqual(commits, [1])
  })
})

test('how long CHANGES has owed a set is counted from when it was the next', async () => {
  const { fold } = open()
  assert.equal(fold.waitedMs, 0)
  fold.fold(message(1), at(1))
  fold.fold(message(2), at(2))
  await sleep(60)
  assert.ok(fold.waitedMs >= 50)
  fold.confirm(at(1))
  assert.ok(fold.waitedMs < 50)
  fold.confirm(at(2))
  assert.equal(fold.waitedMs, 0)
})

test('a quarantined block is folded without its contents; any other message leaves a gap that blocks may cross', () => {
  const { fold } = open()
  fold.fold(message(1), at(1))
  const emptied = decodeChangeSet(fold.skip(message(2), at(2)))
  assert.equal(emptied.head.hash, block(2).hash)
  assert.ok(emptied.changes.every(({ type }) => type !== 'pair'))
  fold.fold(message(3), at(3))
  const skipped = decodeChangeSet(fold.skip(message(4).subarray(0, 20), at(4)))
  assert.deepEqual([skipped.seq, skipped.head.hash, skipped.changes], [4, block(3).hash, []])
  assert.equal(decodeChangeSet(fold.fold(message(5), at(5))).head.hash, block(5).hash)
  const { number, hash } = block(4)
  fold.fold(encodeEnvelope({ kind: 'undo', chain: CHAIN, lastValid: { number, hash } }), at(6))
  assert.equal(decodeChangeSet(fold.fold(message(5), at(7))).head.hash, block(5).hash)
  assert.throws(() => fold.fold(message(8), at(8)), hasCode('broken_link'))
})
