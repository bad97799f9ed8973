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
import { takeOver, VirtualClock } from './virtual-clock.ts'

export type Outcome = {
  readonly failure: unknown
  readonly lines: readonly string[]
  readonly virtualMs: number
  readonly messages: number
  readonly undone: number
}

/** After the last trouble, this long is more than enough to follow the longest chain. */
const PATIENCE_MS = 3_600_000
/** After the reader reported the head, it polls again: a second poll must change nothing. */
const LOOKS_AT_THE_END = 3

/** One random history: at its end the log must say what the chain says. The same seed, the same history. */
export async function simulate(seed: number): Promise<Outcome> {
  const clock = new VirtualClock()
  const draw = new Random(-1 - seed)
  takeOver(clock, () => draw.next())
  const history = new History(clock, seed)
  const { chain, stream, supervisor } = history
  // What nobody waits for would end a real reader.
  const onUnhandled = (error: unknown): void => {
    supervisor.failure ??= error
  }
  process.on('unhandledRejection', onUnhandled)
  let failure: unknown
  let envelopes: Envelope[] = []
  try {
    await play(clock, history)
    // The quietest fork there is: no block more than before.
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
  let patience = Number.POSITIVE_INFINITY
  for (;;) {
    const goesOn = await clock.step()
    if (supervisor.failure !== undefined) throw supervisor.failure
    assert.ok(goesOn, 'nothing is left to happen, and the head is not reached')
    if (!history.isOver) continue
    patience = Math.min(patience, clock.now + PATIENCE_MS)
    const { tip, times } = supervisor.lastTip
    if (tip?.hash === chain.tip.hash && times >= LOOKS_AT_THE_END) return
    assert.ok(clock.now < patience, `the reader is at ${tip?.number}, not at the head ${chain.tip.number}`)
  }
}

/** All whole messages: frames that do not follow each other, and parts that do not fit, throw. */
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
    'the log says what the chain says',
  )
  assert.ok((view.final?.number ?? -1) <= chain.final, 'nothing is called final before it is')
  const known = new Set<string>()
  for (const block of view.blocks) checkContent(block, known)
}

/** Its own transactions, and each pool's fact where the pool is first seen. */
function checkContent(block: BlockEnvelope, known: Set<string>): void {
  const transactions = transactionsOf(block)
  assert.deepEqual(plain(block.transactions), plain(transactions), `transactions of block ${block.number}`)
  const fresh = poolsOf(transactions).filter((pool) => !known.has(pool))
  for (const pool of fresh) known.add(pool)
  assert.deepEqual(block.facts, fresh.map(poolFact), `facts of block ${block.number}`)
}

/** The index on disk is what a fold of the log, up to the same place, gives. */
function checkDisk({ supervisor: { disk }, stream }: History, envelopes: readonly Envelope[]): void {
  assert.equal(disk.position?.seq, stream.frames.length, 'the index is durable up to the end of the log')
  const index = new ReaderIndex(NOTHING_COMMITTED)
  for (const envelope of envelopes) index.apply(envelope)
  assert.deepEqual(plain(disk.state.entries()), plain(entriesAfter([], index.pending())))
}

/** While its writer's disk is not lost, too, a log that loses its tail gets the very same frames back. */
function checkRestored({ supervisor: { disk, hasOneMemory }, stream }: History): void {
  if (hasOneMemory && !disk.outbox.hasEvicted)
    assert.equal(stream.rewrites, 0, 'no frame stands where another one had been')
}

function plain(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    part instanceof Uint8Array ? Buffer.from(part).toString('hex') : part,
  )
}
