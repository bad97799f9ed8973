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
import { HistoryOrder } from '../../history-order.ts'
import { OpenHistories } from '../../open-histories.ts'
import { RpcFailure } from '../../rpc/rpc-failure.ts'
import type { LogFilter, RpcPastLog } from '../rpc/history-rpc.ts'
import type { EvmNode } from '../rpc/rpc.ts'
import { type HistorySettings, TransferHistory } from './transfer-history.ts'

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
  /** How many requests for logs went before the first one for an address's code. */
  readonly probed = new Map<string, number>()
  readonly state = new JournaledState(NOTHING_COMMITTED)
  readonly histories = new OpenHistories(this.state)
  readonly order = new HistoryOrder(this.histories)
  readonly common = createTestCommon()
  readonly history: TransferHistory
  hash = 'ours'
  metAt = MET_AT
  /** The block of every contract's creation. */
  created = 100
  onLogs: (filter: LogFilter) => Promise<void> | undefined = () => undefined
  #block = MET_AT

  constructor(answer: (filter: LogFilter) => readonly RpcPastLog[], settings: Partial<HistorySettings> = {}) {
    const node = {
      pastLogs: async (filter: LogFilter) => {
        this.asked.push(filter)
        await this.onLogs(filter)
        return answer(filter)
      },
      hadCode: async (of: string, block: number) => {
        if (!this.probed.has(of)) this.probed.set(of, this.asked.length)
        return block >= this.created
      },
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
      histories: this.histories,
      order: this.order,
      hashAt: () => 'ours',
      wrappedNative: new Set(),
      logger: this.common.logger,
      signal: new AbortController().signal,
      settings: { retryMs: 1, ...settings },
    })
  }

  meet(...tokens: readonly string[]): this {
    const about = { nameRaw: new Uint8Array(), symbolRaw: new Uint8Array(), decimals: 18, supplyRaw: 1n }
    for (const each of tokens) this.histories.apply({ type: 'token', address: each, ...about }, this.metAt)
    this.state.sealBlock(this.#block)
    return this
  }

  /** Reads on without a block. */
  async until(isDone: () => boolean): Promise<void> {
    for (let waited = 0; !isDone(); waited++) {
      assert.ok(waited < 2_000, 'waited too long')
      this.history.readOn()
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
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
    for (const fact of facts) this.histories.apply(fact, this.#block)
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
    assert.equal(rig.histories.length, 0)
  })

  test('is split if it is large, and published in parts that add up', async () => {
    const logs = Array.from({ length: 12_000 }, (_, at) => {
      return log(200 + Math.floor(at / 100), at % 100, ZERO_ADDRESS, address(0x1000 + (at % 50)), 1n)
    })
    const rig = new Rig(within(logs)).meet(TOKEN)
    const facts: TransfersFact[] = []
    while (rig.histories.length > 0) facts.push(...(await rig.next()))
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
    await rig.until(() => rig.asked.length > 0)
    for (let waited = 0; waited < 20; waited++) await setImmediate()
    assert.deepEqual(rig.history.take(), [])
    rig.hash = 'ours'
    let facts: TransfersFact[] = []
    while (facts.length === 0) facts = await rig.next()
    assert.equal(facts[0]?.issuedRaw, 1n)
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

describe('a history that no node serves', () => {
  const others = [0x80, 0x81, 0x82, 0x83, 0x84, 0x85].map(address)
  const refused = 'No node serves old logs of this token'

  test('does not delay the others, is logged once, and is read as soon as a node serves it', async () => {
    let isServed = false
    const rig = new Rig(({ address: of }) => {
      if (of === TOKEN && !isServed) throw new RpcFailure('pruned', 'eth_getLogs: pruned history unavailable')
      return []
    }).meet(TOKEN, ...others)
    rig.history.want(TOKEN)
    const done = new Set<string>()
    for (let block = 0; block < 30 && done.size < others.length; block++) {
      for (const { address: of, isLast } of await rig.next()) if (isLast) done.add(of)
    }
    assert.deepEqual([...done].sort(), others)
    await rig.until(() => rig.asked.filter(({ address: of }) => of === TOKEN).length >= 3)
    assert.deepEqual(
      [rig.histories.length, rig.history.isUnserved(TOKEN), rig.history.unservedCount],
      [1, true, 1],
    )
    assert.equal(rig.common.lines.filter(({ msg }) => msg === refused).length, 1)
    isServed = true
    while (rig.histories.length > 0) await rig.next()
    assert.deepEqual([rig.history.isUnserved(TOKEN), rig.history.unservedCount], [false, 0])
  })

  test('is not one whose node is only in trouble', async () => {
    const rig = new Rig(() => {
      throw new RpcFailure('timeout', 'eth_getLogs: nothing within 10 s')
    }).meet(TOKEN)
    await rig.until(() => rig.asked.length >= 3)
    assert.equal(rig.history.isUnserved(TOKEN), false)
    assert.ok(rig.common.lines.every(({ msg }) => msg !== refused))
  })
})

describe('an import', () => {
  const log1 = log(200, 0, ZERO_ADDRESS, address(0xa), 1n)
  const fact: TransfersFact = {
    ...{
      type: 'transfers',
      address: TOKEN,
      upTo: 999,
      isLast: true,
      first: { time: 0, sender: ZERO_ADDRESS },
    },
    gains: [{ holder: address(0xa), amountRaw: 1n }],
    ...{ issuedRaw: 1n, burnedRaw: 0n, mintedToZeroRaw: 0n },
  }

  test('takes the place of what is read, even of a read under way', async () => {
    const gate = Promise.withResolvers<void>()
    const rig = new Rig(within([log1])).meet(TOKEN)
    rig.onLogs = () => gate.promise
    rig.history.readOn()
    await rig.until(() => rig.asked.length > 0)
    rig.history.hold(TOKEN)
    gate.resolve()
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    assert.deepEqual(rig.history.take(), [], 'a held history stays where it is')
    rig.history.import(1, fact)
    assert.deepEqual(await rig.next(), [fact])
    assert.equal(rig.histories.length, 0)
  })

  test('is dropped where the history stands elsewhere, or after a fork', async () => {
    const rig = new Rig(within([log1])).meet(TOKEN)
    rig.history.import(2, fact)
    assert.deepEqual(rig.history.take(), [])
    rig.history.import(1, fact)
    rig.history.forget()
    assert.deepEqual(rig.history.take(), [])
  })
})

describe('the order', () => {
  const many = Array.from({ length: 200 }, (_, at) => address(0x1000 + at))

  test('puts a token that is asked for before two hundred others', async () => {
    const rig = new Rig(() => []).meet(...many)
    await rig.next()
    const last = many[7] as string
    const position = rig.asked.length
    rig.history.want(last)
    await rig.until(() => rig.asked.some(({ address: of }) => of === last))
    const waited = rig.asked.findIndex(({ address: of }) => of === last) - position
    assert.ok(waited <= 8, `${waited} others went first`)
    const facts = await rig.next()
    assert.ok(facts.findIndex(({ address: of }) => of === last) <= 4)
  })

  test('interrupts the turn of a long history', async () => {
    const gate = Promise.withResolvers<void>()
    const wanted = address(0x90)
    const long = [0x81, 0x82, 0x83, 0x84].map(address)
    const rig = new Rig(() => [], { firstSpan: 10, maxSpan: 10, spansPerTurn: 16 })
    rig.onLogs = ({ address: of }) => (long.some((each) => each === of) ? gate.promise : undefined)
    rig.meet(...long)
    rig.history.readOn()
    await rig.until(() => rig.asked.length === long.length)
    rig.meet(wanted)
    rig.history.want(wanted)
    gate.resolve()
    await rig.until(() => rig.probed.has(wanted))
    const before = rig.probed.get(wanted) ?? 0
    assert.ok(before <= 2 * long.length, `${before} requests for the others went first`)
  })

  test('reads what was asked for ahead of the blocks', async () => {
    const logs = Array.from({ length: 4_000 }, (_, at) =>
      log(200 + Math.floor(at / 10), at % 10, ZERO_ADDRESS, address(0xa), 1n),
    )
    const rig = new Rig(within(logs), { firstSpan: 60, maxSpan: 60 }).meet(TOKEN)
    rig.history.want(TOKEN)
    rig.history.readOn()
    await rig.until(() => rig.asked.length >= 14)
    const facts = await rig.next()
    assert.ok(facts.length > 1, 'several ranges in one block')
    assert.deepEqual(
      facts.map(({ upTo }) => upTo),
      facts.map(({ upTo }) => upTo).sort((a, b) => a - b),
    )
    const all = [...facts]
    while (rig.histories.length > 0) all.push(...(await rig.next()))
    assert.equal(
      all.reduce((sum, { issuedRaw }) => sum + issuedRaw, 0n),
      4_000n,
    )
  })

  test('asks once whether a discovery is a launch, and reads an old one by its liquidity', async () => {
    const rig = new Rig(() => [])
    rig.created = -1
    rig.metAt = 100_000
    rig.meet(...many.slice(0, 50))
    rig.order.rank(many.slice(0, 50).toReversed())
    while (rig.histories.length > 0) await rig.next()
    const order = [...new Set(rig.asked.map(({ address: of }) => of))]
    const richest = many.slice(20, 50)
    assert.equal(order.length, 50)
    assert.ok(
      order.slice(0, 20).filter((of) => richest.some((each) => each === of)).length >= 15,
      order.join(),
    )
  })
})
