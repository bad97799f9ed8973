import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { words } from '../../../../test/support/builders/abi-words.ts'
import { padded } from '../../../../test/support/builders/raw-log.ts'
import { NOTHING_COMMITTED } from '../../../../test/support/rigs/memory-state.ts'
import { createTestCommon } from '../../../../test/support/rigs/test-common.ts'
import { moveTopics } from '../../../dex/evm/token-moves.ts'
import type { TransfersFact } from '../../../domain/envelope.ts'
import { ChaintapeError } from '../../../domain/errors.ts'
import { ZERO_ADDRESS } from '../../../domain/known-addresses.ts'
import { JournaledState } from '../../../state/journaled-state.ts'
import { HistoryQueue } from '../../history-queue.ts'
import { RpcFailure } from '../../rpc/rpc-failure.ts'
import type { LogFilter, RpcPastLog } from '../rpc/history-rpc.ts'
import type { EvmNode } from '../rpc/rpc.ts'
import { TransferHistory } from './transfer-history.ts'

const [TRANSFER = ''] = moveTopics(false)
const address = (at: number): string => `0x${at.toString(16).padStart(40, '0')}`
const TOKEN = address(0x70)
const MET_AT = 1_000

function log(block: number, index: number, from: string, to: string, amount: bigint): RpcPastLog {
  const hex = (value: number) => `0x${value.toString(16)}` as const
  return {
    address: TOKEN,
    topics: [TRANSFER, padded(from), padded(to)],
    data: words(amount),
    blockNumber: hex(block),
    blockHash: `0x${'b'.repeat(64)}`,
    transactionHash: `0x${block.toString(16).padStart(64, '0')}`,
    transactionIndex: '0x0',
    logIndex: hex(index),
  } as RpcPastLog
}

/** A node in memory, asked the way the endpoints' pool asks. */
class Rig {
  readonly asked: LogFilter[] = []
  readonly state = new JournaledState(NOTHING_COMMITTED)
  readonly queue = new HistoryQueue(this.state)
  readonly common = createTestCommon()
  readonly history: TransferHistory
  hash = 'ours'
  #block = MET_AT

  constructor(answer: (filter: LogFilter) => readonly RpcPastLog[]) {
    const node = {
      pastLogs: async (filter: LogFilter) => {
        this.asked.push(filter)
        return answer(filter)
      },
      hadCode: async (_address: string, block: number) => block >= 100,
      transaction: async () => ({ from: address(0x51) }),
      blockByNumber: async (number: number) => ({ hash: this.hash, timestamp: `0x${number.toString(16)}` }),
    } as unknown as EvmNode
    this.history = new TransferHistory({
      nodes: {
        verified: async (ask) => {
          try {
            return await ask(node)
          } catch (error) {
            if (error instanceof RpcFailure) throw new ChaintapeError('node_unavailable', error.message)
            throw error
          }
        },
      },
      queue: this.queue,
      hashAt: () => 'ours',
      wrappedNative: new Set(),
      logger: this.common.logger,
      signal: new AbortController().signal,
      settings: { retryMs: 1 },
    })
  }

  meet(...tokens: readonly string[]): this {
    const about = { nameRaw: new Uint8Array(), symbolRaw: new Uint8Array(), decimals: 18, supplyRaw: 1n }
    for (const each of tokens) this.queue.apply({ type: 'token', address: each, ...about }, MET_AT)
    this.state.sealBlock(this.#block)
    return this
  }

  /** What the next block carries. */
  async next(): Promise<TransfersFact[]> {
    this.history.readOn()
    let facts: TransfersFact[] = []
    for (let waited = 0; waited < 200 && facts.length === 0; waited++) {
      await setImmediate()
      if (waited % 10 === 9) await new Promise((resolve) => setTimeout(resolve, 2))
      this.history.readOn()
      facts = this.history.take()
    }
    this.#block += 1
    for (const fact of facts) this.queue.apply(fact, this.#block)
    this.state.sealBlock(this.#block)
    return facts
  }
}

const within = (logs: readonly RpcPastLog[]) => (filter: LogFilter) =>
  logs.filter(({ blockNumber }) => Number(blockNumber) >= filter.from && Number(blockNumber) <= filter.to)

describe('the published past', () => {
  test('may be 200,000 transfers of one token in one block', async () => {
    const [ann, ben] = [address(0xa), address(0xb)]
    const logs = Array.from({ length: 200_000 }, (_, index) =>
      index === 0 ? log(999, 0, ZERO_ADDRESS, ann, 200_000n) : log(999, index, ann, ben, 1n),
    )
    const rig = new Rig(({ to }) => (to === 999 ? logs : [])).meet(TOKEN)
    const facts: TransfersFact[] = []
    while (!facts.some(({ isLast }) => isLast)) facts.push(...(await rig.next()))
    assert.deepEqual(facts.at(-1)?.gains, [
      { holder: ann, amountRaw: 1n },
      { holder: ben, amountRaw: 199_999n },
    ])
    assert.ok(
      rig.common.lines.every(({ level }) => level < 40),
      JSON.stringify(rig.common.lines),
    )
  })

  test('is what each address gained, from the first block of the contract up to the one before it was met', async () => {
    const [ann, ben] = [address(0xa), address(0xb)]
    const rig = new Rig(
      within([
        log(100, 0, ZERO_ADDRESS, ann, 9n),
        log(500, 3, ann, ben, 4n),
        log(999, 1, ben, ZERO_ADDRESS, 1n),
      ]),
    ).meet(TOKEN)
    assert.deepEqual(await rig.next(), [
      {
        type: 'transfers',
        address: TOKEN,
        upTo: 999,
        isLast: true,
        first: { time: 100, sender: address(0x51) },
        gains: [
          { holder: ann, amountRaw: 5n },
          { holder: ben, amountRaw: 3n },
        ],
        issuedRaw: 8n,
        burnedRaw: 1n,
        mintedToZeroRaw: 0n,
      },
    ])
    assert.equal(rig.asked[0]?.from, 100)
    assert.equal(rig.queue.length, 0)
  })

  test('is split if it is large, and published in parts that add up', async () => {
    const logs = Array.from({ length: 12_000 }, (_, at) => {
      return log(200 + Math.floor(at / 100), at % 100, ZERO_ADDRESS, address(0x1000 + (at % 50)), 1n)
    })
    const rig = new Rig(within(logs)).meet(TOKEN)
    const facts: TransfersFact[] = []
    while (rig.queue.length > 0) facts.push(...(await rig.next()))
    assert.ok(facts.length >= 3, `${facts.length} pieces`)
    assert.equal(
      facts.reduce((sum, { issuedRaw }) => sum + issuedRaw, 0n),
      12_000n,
    )
    assert.deepEqual(
      facts.map(({ first }) => first !== undefined),
      facts.map((_, at) => at === 0),
    )
    assert.deepEqual(
      facts.map(({ isLast }) => isLast),
      facts.map((_, at) => at === facts.length - 1),
    )
  })

  test('is impossible if a token reports more than fits', async () => {
    const most = 2n ** 256n - 1n
    const rig = new Rig(within([log(200, 0, ZERO_ADDRESS, address(0xa), most)])).meet(TOKEN)
    const [fact] = await rig.next()
    assert.deepEqual([fact?.gains, fact?.mintedToZeroRaw], [[], 2n ** 255n])
  })

  test('does not begin with what only looks like a transfer', async () => {
    const thing = { ...log(150, 0, ZERO_ADDRESS, address(0xa), 1n), data: '0x' } as RpcPastLog
    const rig = new Rig(within([thing, log(300, 0, ZERO_ADDRESS, address(0xa), 1n)])).meet(TOKEN)
    assert.equal((await rig.next())[0]?.first?.time, 300)
  })
})

describe('an answer that is not taken', () => {
  const good = log(200, 1, ZERO_ADDRESS, address(0xa), 1n)
  const bad: Record<string, readonly RpcPastLog[]> = {
    'the same log twice': [good, good],
    'logs out of order': [log(201, 0, ZERO_ADDRESS, address(0xa), 1n), good],
    'of another contract': [{ ...good, address: address(0x71) } as RpcPastLog],
    'of another block': [log(1_000, 0, ZERO_ADDRESS, address(0xa), 1n)],
    'without data': [{ ...good, data: null } as unknown as RpcPastLog],
  }
  for (const [name, logs] of Object.entries(bad)) {
    test(name, async () => {
      let isBad = true
      const rig = new Rig((filter) => (isBad ? logs : within([good])(filter))).meet(TOKEN)
      rig.history.readOn()
      for (let waited = 0; waited < 5; waited++) await setImmediate()
      assert.deepEqual(rig.history.take(), [])
      isBad = false
      let facts: TransfersFact[] = []
      while (facts.every(({ isLast }) => !isLast)) facts = await rig.next()
      assert.equal(facts[0]?.issuedRaw, 1n)
      const warned = rig.common.lines.filter(({ msg }) => msg === 'Transfer history read failed; retrying')
      assert.ok(warned.length > 0 && warned.every((line) => line['code'] === 'node_answer_invalid'))
    })
  }

  test('from a node on another branch, however plausible', async () => {
    const rig = new Rig(within([good])).meet(TOKEN)
    rig.hash = 'theirs'
    const [fact] = await rig.next()
    assert.deepEqual(
      [fact?.isLast, fact?.gains, fact?.upTo],
      [false, [], 0],
      'it only lets the others go first',
    )
    rig.hash = 'ours'
    assert.equal((await rig.next())[0]?.issuedRaw, 1n)
  })

  test('from before a fork', async () => {
    const rig = new Rig(within([good])).meet(TOKEN)
    rig.history.readOn()
    rig.history.forget()
    for (let waited = 0; waited < 20; waited++) await setImmediate()
    assert.deepEqual(rig.history.take(), [])
    assert.equal((await rig.next())[0]?.issuedRaw, 1n)
  })
})

test('a history that no node serves does not delay the others', async () => {
  const others = [0x80, 0x81, 0x82, 0x83, 0x84, 0x85].map(address)
  const rig = new Rig(({ address: of }) => {
    if (of === TOKEN) throw new RpcFailure('too_many_logs', 'eth_getLogs: more than 10000 results')
    return []
  }).meet(TOKEN, ...others)
  const done = new Set<string>()
  for (let block = 0; block < 30 && done.size < others.length; block++) {
    for (const { address: of, isLast } of await rig.next()) if (isLast) done.add(of)
  }
  assert.deepEqual([...done].sort(), others)
  assert.deepEqual(
    rig.queue.first(9).map((open) => open.address),
    [TOKEN],
  )
})
