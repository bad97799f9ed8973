import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { ReaderIndex } from '../../src/chain/reader-index.ts'
import type { BlockEnvelope, Envelope } from '../../src/domain/envelope.ts'
import { decodeEnvelope } from '../../src/wire/envelope-codec.ts'
import { FIRST_LINK, MessageAssembler } from '../../src/wire/frame.ts'
import { Random } from '../fuzz/random.ts'
import { CanonicalView } from '../support/reference/canonical-view.ts'
import { entriesAfter, NOTHING_COMMITTED } from '../support/rigs/memory-state.ts'
import { History } from './history.ts'
import { type SimChain, transactionsOf } from './sim-chain.ts'
import { poolFact, poolsOf } from './sim-node.ts'
import type { SimStream } from './sim-stream.ts'
import { installClock, VirtualClock } from './virtual-clock.ts'

export type Outcome = {
  readonly failure: unknown
  readonly lines: readonly string[]
  readonly virtualMs: number
  readonly messages: number
  readonly undone: number
}

/** After the last fault, the reader reaches the head of the longest chain well within this time. */
const TIMEOUT_MS = 3_600_000
/** After the reader reported the head, it polls again: a second poll must change nothing. */
const POLLS_AT_HEAD = 3

/** Runs the random history of a seed; at its end, the log must equal the chain. */
export async function simulate(seed: number): Promise<Outcome> {
  const clock = new VirtualClock()
  const draw = new Random(-1 - seed)
  installClock(clock, () => draw.next())
  const history = new History(clock, seed)
  const { chain, stream, supervisor } = history
  // An unhandled rejection would end a real reader.
  const onUnhandled = (error: unknown): void => {
    supervisor.failure ??= error
  }
  process.on('unhandledRejection', onUnhandled)
  let failure: unknown
  let envelopes: Envelope[] = []
  try {
    await play(clock, history)
    // A reorg that replaces the tip without a longer chain.
    if (history.replaceTip()) await play(clock, history)
    await setImmediate()
    if (supervisor.failure !== undefined) throw supervisor.failure
    envelopes = readStream(stream)
    checkLog(chain, envelopes)
    checkDisk(history, envelopes)
    checkRestored(history)
  } catch (error) {
    failure = error
  } finally {
    process.off('unhandledRejection', onUnhandled)
  }
  const undone = envelopes.filter(({ kind }) => kind === 'undo').length
  return { failure, lines: history.lines, virtualMs: clock.now, messages: envelopes.length, undone }
}

async function play(clock: VirtualClock, history: History): Promise<void> {
  const { chain, supervisor } = history
  let deadline = Number.POSITIVE_INFINITY
  for (;;) {
    const hasStepped = await clock.step()
    if (supervisor.failure !== undefined) throw supervisor.failure
    assert.ok(hasStepped, 'no timer is left, and the head is not reached')
    if (!history.isOver) continue
    deadline = Math.min(deadline, clock.now + TIMEOUT_MS)
    const { tip, times } = supervisor.lastTip
    if (tip?.hash === chain.tip.hash && times >= POLLS_AT_HEAD) return
    assert.ok(clock.now < deadline, `the reader is at ${tip?.number}, not at the head ${chain.tip.number}`)
  }
}

/** Decodes all complete messages; throws if frames are out of order or parts do not fit. */
function readStream(stream: SimStream): Envelope[] {
  const assembler = new MessageAssembler(FIRST_LINK)
  const envelopes: Envelope[] = []
  for (const { data } of stream.frames) {
    const body = assembler.push(data)
    if (body !== undefined) envelopes.push(decodeEnvelope(body))
  }
  return envelopes
}

function checkLog(chain: SimChain, envelopes: readonly Envelope[]): void {
  const view = CanonicalView.of(envelopes)
  const wanted = chain.wanted()
  assert.deepEqual(
    view.blocks.map(({ number, hash, parentHash, time }) => ({ number, hash, parentHash, time })),
    wanted,
    'the log equals the chain',
  )
  assert.ok((view.final?.number ?? -1) <= chain.final, 'no block is finalized early')
  const known = new Set<string>()
  for (const block of view.blocks) checkContent(block, known)
}

/** A block has its transactions, and the fact of each pool that it mentions first. */
function checkContent(block: BlockEnvelope, known: Set<string>): void {
  const transactions = transactionsOf(block)
  assert.deepEqual(plain(block.transactions), plain(transactions), `transactions of block ${block.number}`)
  const fresh = poolsOf(transactions).filter((pool) => !known.has(pool))
  for (const pool of fresh) known.add(pool)
  assert.deepEqual(block.facts, fresh.map(poolFact), `facts of block ${block.number}`)
}

/** The index on disk equals a fold of the log. */
function checkDisk({ supervisor: { disk }, stream }: History, envelopes: readonly Envelope[]): void {
  assert.equal(disk.position?.sequence, stream.frames.length, 'the index is durable up to the end of the log')
  const index = new ReaderIndex(NOTHING_COMMITTED)
  for (const envelope of envelopes) index.apply(envelope)
  assert.deepEqual(plain(disk.state.entries()), plain(entriesAfter([], index.pending())))
}

/** A log that loses its tail gets identical frames back, unless the reader's disk was lost as well. */
function checkRestored({ supervisor: { disk, hasOneMemory }, stream }: History): void {
  if (hasOneMemory && !disk.outbox.hasEvicted)
    assert.equal(stream.rewrites, 0, 'no frame was replaced by a different one')
}

function plain(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    part instanceof Uint8Array ? Buffer.from(part).toString('hex') : part,
  )
}
