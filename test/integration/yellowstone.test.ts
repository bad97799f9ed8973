import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BlockWindow } from '../../src/chain/solana/yellowstone/block-window.ts'
import type { SolanaTransaction } from '../../src/dex/solana/transaction.ts'
import { base58Text } from '../../src/domain/base58.ts'
import type { RawLog } from '../../src/domain/envelope.ts'
import { hasSolanaRecordings, rawTransactions } from '../support/recorded/recorded-solana.ts'
import { encodeUpdate } from '../support/rigs/yellowstone-messages.ts'
import { waitUntil, yellowstoneWorlds } from '../support/rigs/yellowstone-world.ts'

const START = 1_000
/** Programs of Pump.fun, PumpSwap and Raydium, which occur in the recordings. */
const PROGRAMS = [
  '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P',
  'pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA',
  '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8',
]

const worldOf = yellowstoneWorlds(START)

/** One log for each instruction of the programs, with everything in it that a decoder may read. */
function logsOf(transaction: SolanaTransaction, firstIndex: number): RawLog[] {
  const { keys, instructions, preTokenBalances, postTokenBalances, ...rest } = transaction
  const content = JSON.stringify([preTokenBalances, postTokenBalances, rest], (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  const own = instructions.filter(({ program }) =>
    PROGRAMS.includes(base58Text(keys[program] as Uint8Array, 0)),
  )
  return own.map(({ program, accounts, data, stackHeight }, nth) => ({
    index: firstIndex + nth,
    address: base58Text(keys[program] as Uint8Array, 0),
    topics: [`${stackHeight}`],
    data: Buffer.concat([accounts, data, Buffer.from(content)]),
  }))
}

describe('a stream beside JSON-RPC', () => {
  test('has the same blocks, over skipped slots, forks and finality', async () => {
    const world = worldOf()
    const { chain } = world.ledger
    chain.mine(40)
    const [live, rpc] = [await world.setup(), await world.rpcSetup()]
    await live.catchUp()
    await rpc.catchUp()
    await world.streamed()
    for (const depth of [0, 1, 5, 0, 32, 2]) {
      chain.fork(depth, depth + 3)
      await world.streamed()
      chain.finalise(chain.tip.number - 33)
      await waitUntil(
        'the final block',
        () => world.window.final === undefined || world.window.final.number === chain.final?.number,
      )
      await live.catchUp(1)
      await rpc.catchUp(1)
    }
    assert.deepEqual(live.canonical(), chain.hashes())
    assert.deepEqual(rpc.canonical(), live.canonical())
    assert.deepEqual(
      live.kinds().filter((kind) => !kind.startsWith('block')),
      rpc.kinds().filter((kind) => !kind.startsWith('block')),
    )
    assert.deepEqual(world.ends, [])
    await waitUntil('an answered ping', () => world.server.pongs > 0)
  })

  test('its transactions are those of getBlock, and the node is not asked for them', {
    skip: !hasSolanaRecordings,
  }, async () => {
    const world = worldOf({ accounts: PROGRAMS, logsOf })
    const { ledger } = world
    const recorded = rawTransactions()
    const vote = {
      transaction: 'not even parsed',
      meta: { err: null, logMessages: ['Program Vote111111111111111111111111111111111111111 invoke [1]'] },
    }
    const all = recorded.flatMap((each) => [vote, each])
    const perBlock = 20
    ledger.transactionsOf = ({ number }) =>
      all.slice((number - START - 1) * perBlock, (number - START) * perBlock)
    ledger.chain.mine(1)
    const live = await world.setup()
    await world.streamed()
    await live.catchUp(3)
    world.rpcBlocks = 0
    for (let mined = 0; mined < all.length / perBlock; mined++) {
      ledger.chain.mine(1)
      await world.streamed()
      await live.catchUp()
    }
    assert.equal(world.rpcBlocks, 0)
    const rpc = await world.rpcSetup()
    await rpc.catchUp()
    const found = live.log.flatMap((envelope) => (envelope.kind === 'block' ? envelope.transactions : []))
    assert.ok(found.length > 20, `${found.length} transactions`)
    assert.deepEqual(live.log, rpc.log)
  })

  test('blocks without a time have the time of the nearest block below, and the stream stays in use', async () => {
    const world = worldOf()
    const { ledger, server } = world
    const isTimeless = (number: number): boolean => number > START && number % 4 !== 0
    const counted = ledger.falsify
    ledger.falsify = (method, answer) => {
      const block = counted(method, answer) as { blockHeight?: number }
      return method === 'getBlock' && isTimeless(block.blockHeight ?? 0)
        ? { ...block, blockTime: null }
        : block
    }
    server.falsify = (bytes, { block }) =>
      block !== undefined && isTimeless(Number(block.blockHeight?.blockHeight))
        ? encodeUpdate({ block: { ...block, blockTime: undefined } })
        : bytes
    ledger.chain.mine(6)
    const live = await world.setup()
    // Its first blocks may have no time, and their parents are not known there.
    await waitUntil('a block with a time', () => {
      if (world.window.head === undefined) ledger.chain.mine(1)
      return world.window.head !== undefined
    })
    await world.streamed()
    await live.catchUp(2)
    world.rpcBlocks = 0
    ledger.chain.mine(20)
    await world.streamed()
    await live.catchUp()
    assert.equal(world.rpcBlocks, 0)
    const rpc = await world.rpcSetup()
    await rpc.catchUp()
    assert.deepEqual(live.log, rpc.log)
    assert.deepEqual(world.ends, [])
  })

  test('a token that the server refuses, and the right one', async () => {
    const world = worldOf()
    world.server.token = 'secret'
    await world.source('wrong')
    await waitUntil('two refusals', () => world.ends.length > 1)
    assert.equal(world.window.head, undefined)
    const other = worldOf()
    other.server.token = 'secret'
    await other.source('secret')
    await other.streamed()
  })
})

describe('a killed stream', () => {
  test('resumes where it ended, inside of what the server can replay', async () => {
    const world = worldOf()
    const { chain } = world.ledger
    chain.mine(50)
    const live = await world.setup()
    await world.streamed()
    chain.mine(10)
    await world.streamed()
    await live.catchUp(3)
    world.server.kill()
    await waitUntil('the end of the connection', () => !world.isUp)
    const readBefore = world.rpcBlocks
    chain.fork(4, 20)
    await world.server.listen()
    await world.streamed()
    // While it replayed, it had the blocks from the fork on.
    assert.equal(world.window.at(chain.tip.number - 19)?.header.hash, chain.hashes().at(-20))
    assert.ok(Number(world.server.requests.at(-1)?.fromSlot) > 0)
    await live.catchUp()
    assert.deepEqual(live.canonical(), chain.hashes())
    assert.ok(world.rpcBlocks - readBefore <= 20)
  })

  test('starts anew outside of it, and the gap is read over JSON-RPC', async () => {
    const world = worldOf()
    const { chain } = world.ledger
    world.server.replayBlocks = 5
    chain.mine(20)
    const live = await world.setup()
    await world.streamed()
    await live.catchUp(3)
    world.server.kill()
    await waitUntil('the end of the connection', () => !world.isUp)
    chain.mine(60)
    await world.server.listen()
    await world.streamed()
    assert.equal(world.server.requests.at(-1)?.fromSlot, undefined)
    assert.equal(world.window.size, 1)
    await live.catchUp()
    assert.deepEqual(live.canonical(), chain.hashes())
  })

  test('a server without replay', async () => {
    const world = worldOf()
    world.server.hasReplayInfo = false
    world.ledger.chain.mine(5)
    const live = await world.setup()
    await world.streamed()
    world.server.kill()
    await waitUntil('the end of the connection', () => !world.isUp)
    world.ledger.chain.mine(5)
    await world.server.listen()
    await world.streamed()
    await live.catchUp()
    assert.deepEqual(live.canonical(), world.ledger.chain.hashes())
  })

  test('while it is away, blocks come over JSON-RPC', async () => {
    const world = worldOf()
    world.ledger.chain.mine(5)
    const live = await world.setup()
    await world.streamed()
    await live.catchUp(2)
    world.server.kill()
    world.ledger.chain.fork(3, 9)
    await live.catchUp()
    assert.deepEqual(live.canonical(), world.ledger.chain.hashes())
  })
})

test('a stream that is behind does not make blocks final that the nodes have left', async () => {
  const world = worldOf()
  const { chain } = world.ledger
  chain.mine(4)
  const live = await world.setup()
  await world.streamed()
  await live.catchUp(3)
  world.server.isHanging = true
  chain.fork(3, 13)
  chain.finalise(chain.tip.number - 3)
  await live.catchUp(1)
  assert.deepEqual(live.canonical(), chain.hashes())
  assert.deepEqual(
    live.kinds().filter((kind) => !kind.startsWith('block')),
    [`undo to ${START}`, `final ${chain.tip.number - 3}`],
  )
})

describe('a slow reader', () => {
  test('the window drops its oldest blocks, which are read over JSON-RPC', async () => {
    const window = new BlockWindow({ blocks: 30, bytes: 1024 * 1024 })
    const world = worldOf({ window })
    const { chain } = world.ledger
    chain.mine(1)
    const live = await world.setup()
    await world.streamed()
    await live.catchUp(2)
    for (let turn = 0; turn < 20; turn++) {
      chain.mine(50)
      await world.streamed()
      assert.equal(window.size, 30)
    }
    await live.catchUp()
    assert.deepEqual(live.canonical(), chain.hashes())
    assert.deepEqual(world.ends, [])
  })

  test('the window is bounded in bytes too', async () => {
    const window = new BlockWindow({ blocks: 1_000, bytes: 20_000 })
    const world = worldOf({ window })
    world.ledger.chain.mine(1)
    await world.source()
    await world.streamed()
    world.ledger.chain.mine(200)
    await world.streamed()
    assert.ok(window.bytes <= 20_000 && window.size > 10, `${window.bytes} bytes, ${window.size} blocks`)
  })
})
