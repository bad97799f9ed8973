import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SlotStatus, type SubscribeUpdate, type SubscribeUpdateBlock } from '@triton-one/yellowstone-grpc'
import { hasSolanaRecordings, rawTransactions } from '../../support/recorded/recorded-solana.ts'
import { SolanaLedger } from '../../support/rigs/solana-ledger.ts'
import { encodeUpdate, toTransactionInfo } from '../../support/rigs/yellowstone-messages.ts'
import { slotUpdate } from '../../support/rigs/yellowstone-server.ts'
import { waitUntil, yellowstoneWorlds } from '../../support/rigs/yellowstone-world.ts'

const START = 1_000

const worldOf = yellowstoneWorlds(START)

type Lie = (bytes: Buffer, block: SubscribeUpdateBlock) => Buffer

const changed =
  (change: (block: SubscribeUpdateBlock) => Partial<SubscribeUpdateBlock>): Lie =>
  (_bytes, block) =>
    encodeUpdate({ block: { ...block, ...change(block) } })

function aTransaction(index = 0) {
  return toTransactionInfo(rawTransactions()[0] as ReturnType<typeof rawTransactions>[number], index)
}

const lies: Record<string, Lie> = {
  'random bytes': () => Buffer.from('the quick brown fox jumps over the lazy dog'),
  'a truncated block': (bytes) => bytes.subarray(0, bytes.length - 10),
  'a length beyond the message': () => Buffer.from([42, 0xff, 0xff, 0xff, 0x7f]),
  'groups nested without end': () => Buffer.alloc(10_000, 11),
  'a malformed hash': changed(() => ({ blockhash: '0OIl' })),
  'no parent hash': changed(() => ({ parentBlockhash: '' })),
  'a slot of 64 bits': changed(() => ({ slot: String(2n ** 64n - 1n) })),
  'no height': changed(() => ({ blockHeight: undefined })),
  'a height above the slot': changed(() => ({ blockHeight: { blockHeight: String(2 ** 40) } })),
  'another height': changed(({ blockHeight }) => ({
    blockHeight: { blockHeight: String(Number(blockHeight?.blockHeight) - 1) },
  })),
  'another parent slot': changed(({ parentSlot }) => ({ parentSlot: String(Number(parentSlot) - 1) })),
  'a parent slot above': changed(({ slot }) => ({ parentSlot: slot })),
  'a negative time': changed(() => ({ blockTime: { timestamp: '-5' } })),
  'a time beyond 2106': changed(() => ({ blockTime: { timestamp: String(2 ** 33) } })),
}
const withTransactions: Record<string, Lie> = {
  'a transaction twice': changed(() => ({ transactions: [aTransaction(0), aTransaction(1)] })),
  'two transactions at one place': changed(() => ({ transactions: [aTransaction(3), aTransaction(3)] })),
  'a key of 31 bytes': changed(() => {
    const info = aTransaction()
    info.transaction?.message?.accountKeys.splice(0, 1, new Uint8Array(31))
    return { transactions: [info] }
  }),
  'an instruction without its key': changed(() => {
    const info = aTransaction()
    info.transaction?.message?.instructions.push({
      programIdIndex: 250,
      accounts: new Uint8Array(0),
      data: new Uint8Array(0),
    })
    return { transactions: [info] }
  }),
  'a signature of 3 bytes': changed(() => {
    const info = aTransaction()
    info.transaction?.signatures.splice(0, 1, new Uint8Array(3))
    return { transactions: [info] }
  }),
  'no message': changed(() => {
    const info = aTransaction()
    return { transactions: [{ ...info, transaction: undefined }] }
  }),
  'a token balance that is no number': changed(() => {
    const info = aTransaction()
    info.meta?.postTokenBalances.push({
      ...{ accountIndex: 0, mint: '', owner: '', programId: '' },
      uiTokenAmount: { uiAmount: 0, decimals: 0, amount: '-1', uiAmountString: '' },
    })
    return { transactions: [info] }
  }),
}

describe('a message that cannot be true ends the connection, and reading goes on over JSON-RPC', () => {
  const all = hasSolanaRecordings ? { ...lies, ...withTransactions } : lies
  for (const [name, lie] of Object.entries(all)) {
    test(name, async () => {
      const world = worldOf()
      const { chain } = world.ledger
      chain.mine(5)
      const live = await world.setup()
      await world.streamed()
      await live.catchUp(2)
      let isLying = true
      world.server.falsify = (bytes, { block }) => (isLying && block ? lie(bytes, block) : bytes)
      chain.mine(3)
      await waitUntil('the end of the connection', () => world.ends.length > 0)
      await live.catchUp()
      // A machine that stalls for a second also ends it as silent.
      assert.ok(world.ends.includes('invalid'), world.ends.join())
      isLying = false
      chain.mine(3)
      await world.streamed()
      await live.catchUp(2)
      assert.deepEqual(live.canonical(), chain.hashes())
      assert.equal(live.log.length, 11)
    })
  }

  test('a message larger than the bound', async () => {
    const world = worldOf({ settings: { maxMessageBytes: 100_000 } })
    const live = await world.setup()
    await world.streamed()
    world.server.send({
      blockMeta: undefined,
      block: undefined,
      filters: ['x'.repeat(200_000)],
    } as Partial<SubscribeUpdate>)
    await waitUntil('the end of the connection', () => world.ends.length > 0)
    world.ledger.chain.mine(3)
    await live.catchUp()
    await world.streamed()
    assert.deepEqual(live.canonical(), world.ledger.chain.hashes())
  })
})

describe('a stream that does not keep up', () => {
  test('one that hangs is reconnected, and reading goes on meanwhile', async () => {
    const world = worldOf({ settings: { silentMs: 300 } })
    const { chain } = world.ledger
    chain.mine(1)
    const live = await world.setup()
    await world.streamed()
    await live.catchUp(2)
    world.server.isHanging = true
    chain.mine(5)
    await live.catchUp()
    await waitUntil('the end of the silent connection', () => world.ends.includes('silent'))
    world.server.isHanging = false
    chain.mine(5)
    await world.streamed()
    await live.catchUp(2)
    assert.deepEqual(live.canonical(), chain.hashes())
  })

  test('one that lags is not used, and ended after a while', async () => {
    const world = worldOf()
    const { chain } = world.ledger
    chain.mine(60)
    world.server.lagBlocks = 50
    const live = await world.setup()
    await live.catchUp()
    assert.equal(live.canonical().length, 60)
    await live.read(() => world.ends.includes('invalid'))
    world.server.lagBlocks = 0
    chain.mine(2)
    await world.streamed()
    await live.catchUp(2)
    assert.deepEqual(live.canonical(), chain.hashes())
  })
})

describe('a stream of another chain', () => {
  test('enters nothing into the log', async () => {
    const streamed = new SolanaLedger(START)
    streamed.chain.replaceAll(30)
    const world = worldOf({ streamed })
    world.ledger.chain.mine(20)
    const live = await world.setup()
    await waitUntil('a block', () => world.window.head !== undefined)
    await live.read(() => world.ends.includes('invalid'))
    assert.deepEqual(live.canonical(), world.ledger.chain.hashes())
    assert.equal(live.log.length, 20)
  })

  test('dead slots and finalized slots that nobody has change nothing', async () => {
    const world = worldOf()
    const { chain } = world.ledger
    chain.mine(10)
    const live = await world.setup()
    await world.streamed()
    await live.catchUp(2)
    for (const slot of [0, 5, 2 ** 50]) {
      world.server.send(slotUpdate(slot, SlotStatus.SLOT_DEAD))
      world.server.send(slotUpdate(slot, SlotStatus.SLOT_FINALIZED))
    }
    chain.mine(2)
    await world.streamed()
    await live.catchUp(2)
    assert.deepEqual(live.canonical(), chain.hashes())
    assert.deepEqual(world.ends, [])
  })

  test('a dead slot takes its block back, until the node has another one', async () => {
    const world = worldOf()
    const { chain } = world.ledger
    chain.mine(10)
    const live = await world.setup()
    await world.streamed()
    chain.mine(3)
    await world.streamed()
    await live.catchUp(2)
    world.server.send(slotUpdate(world.ledger.slotOf(chain.tip), SlotStatus.SLOT_DEAD))
    await waitUntil('the block to be taken back', () => world.window.head?.number === chain.tip.number - 1)
    chain.fork(1, 3)
    await world.streamed()
    await live.catchUp()
    assert.deepEqual(live.canonical(), chain.hashes())
  })
})
