import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { splMint } from '../../../test/support/builders/account-data.ts'
import { ReaderSetup } from '../../../test/support/rigs/reader-setup.ts'
import { base58Of, GENESIS_HASH, rpcError, SolanaLedger } from '../../../test/support/rigs/solana-ledger.ts'
import { createTestCommon } from '../../../test/support/rigs/test-common.ts'
import { createSolanaRpc } from './rpc.ts'
import { createSolanaSource } from './source.ts'

const START = 1_000
const stop = new AbortController()
const ledgers: SolanaLedger[] = []
after(() => {
  stop.abort()
  for (const ledger of ledgers) ledger.close()
})

type Options = { readonly maxSupportedTransactionVersion: number; readonly transactionDetails: string }

/** A node over HTTP that records what it is asked; `intercept` may throw an `RpcError`. */
async function world(intercept: (method: string, params: readonly unknown[]) => void = () => undefined) {
  const ledger = new SolanaLedger(START)
  ledgers.push(ledger)
  const asked: string[] = []
  const answer = ledger.answer.bind(ledger)
  ledger.answer = async (method, params) => {
    const version = (params[1] as Options | undefined)?.maxSupportedTransactionVersion
    asked.push(version === undefined ? method : `${method} ${version}`)
    intercept(method, params)
    return answer(method, params)
  }
  const { logger, lines } = createTestCommon()
  const rpc = createSolanaRpc({
    urls: [await ledger.listen()],
    genesisHash: GENESIS_HASH,
    logger,
    signal: stop.signal,
    settings: { lookEveryMs: 60_000, lastResortMs: 5, lagAfterMs: 200 },
    metrics: { answered: () => undefined, up: () => undefined },
  })
  return { ledger, rpc, source: createSolanaSource(rpc, { logsOf: () => [] }), asked, lines }
}

const isOfBlock = (method: string): boolean => method.startsWith('getBlock ')

describe('versions of transactions', () => {
  const cases = {
    'by its bytes': { transaction: [Buffer.of(0x82, 1, 2, 3).toString('base64'), 'base64'] },
    'by the word of the node': { version: 2, transaction: ['AAAA', 'base64'] },
  }
  for (const [name, transaction] of Object.entries(cases)) {
    test(`a version that is not known, ${name}, is reported and not held against the node`, async () => {
      const { ledger, source, lines } = await world()
      ledger.chain.mine(3)
      ledger.transactionsOf = () => [{ ...transaction, meta: { err: null } }]
      const slot = ledger.slotOf(ledger.chain.tip)
      await assert.rejects(source.blockAt?.(START + 2) as Promise<unknown>, {
        code: 'node_unavailable',
        message: new RegExp(`slot ${slot} has a transaction of a version.*upgrade Chaintape`),
      })
      assert.equal((await source.head()).number, START + 2)
      assert.deepEqual(
        lines.filter(({ level }) => level >= 40),
        [],
      )
    })
  }

  const OURS = base58Of('our program')
  const OTHER = base58Of('another program')
  const ran = (...programs: string[]) => programs.map((program) => `Program ${program} invoke [1]`)
  const unread = (logMessages: unknown) => ({
    ...{ version: 2, transaction: [Buffer.of(0x82, 1, 2, 3).toString('base64'), 'base64'] },
    meta: { err: null, logMessages },
  })
  /** A source that follows one program, and the places of transactions that it left out. */
  const followerOf = ({ rpc }: Pick<Awaited<ReturnType<typeof world>>, 'rpc'>) => {
    const leftOut: string[] = []
    const onLeftOut = (slot: number, index: number): void => {
      leftOut.push(`${slot} ${index}`)
    }
    const unknownVersions = { programs: new Set([OURS]), onLeftOut }
    return { source: createSolanaSource(rpc, { logsOf: () => [], unknownVersions }), leftOut }
  }

  test('a transaction of an unknown version that ran none of our programs is left out, and reported', async () => {
    // The node returns the block only if any version is asked for.
    const { ledger, rpc, lines } = await world((method, params) => {
      if (method !== 'getBlock') return
      const { maxSupportedTransactionVersion: version, transactionDetails } = params[1] as Options
      if (transactionDetails === 'full' && version < 2)
        throw rpcError(-32_015, 'Transaction version (2) is not supported')
    })
    const { source, leftOut } = followerOf({ rpc })
    ledger.chain.mine(3)
    ledger.transactionsOf = () => [unread(ran(OTHER)), unread(ran(OTHER, OTHER))]
    assert.equal((await source.blockAt(START + 2))?.header.hash, ledger.chain.tip.hash)
    const slot = ledger.slotOf(ledger.chain.tip)
    assert.deepEqual(leftOut, [`${slot} 0`, `${slot} 1`])
    assert.deepEqual(
      lines.filter(({ level }) => level >= 40),
      [],
    )
  })

  const doubtful = {
    'ran one of our programs': ran(OTHER, OURS),
    'has no log': null,
    'has an empty log': [],
    'has a truncated log': [...ran(OTHER), 'Log truncated'],
  }
  for (const [name, logMessages] of Object.entries(doubtful)) {
    test(`a block with one that ${name} is not read`, async () => {
      const { ledger, rpc } = await world()
      const { source, leftOut } = followerOf({ rpc })
      ledger.chain.mine(3)
      ledger.transactionsOf = () => [unread(logMessages)]
      await assert.rejects(source.blockAt(START + 2), {
        code: 'node_unavailable',
        message: /has a transaction of a version that cannot be read; upgrade Chaintape/,
      })
      assert.deepEqual(leftOut, [])
    })
  }

  test('a block that the node refuses because of one names its slot', async () => {
    const { ledger, source, lines } = await world((method) => {
      if (method === 'getBlock') throw rpcError(-32_015, 'Transaction version (2) is not supported')
    })
    ledger.chain.mine(3)
    const slot = ledger.slotOf(ledger.chain.tip)
    await assert.rejects(source.head(), {
      code: 'node_unavailable',
      message: new RegExp(`slot ${slot} has a transaction.*upgrade.*version \\(2\\) is not supported`),
    })
    assert.deepEqual(
      lines.filter(({ level }) => level >= 40),
      [],
    )
  })

  test('a node that takes version 0 only is asked for that from then on', async () => {
    const { ledger, source, asked } = await world((method, params) => {
      if (method === 'getBlock' && (params[1] as Options).maxSupportedTransactionVersion > 0)
        throw rpcError(-32_602, 'Invalid params: unsupported transaction version')
    })
    ledger.chain.mine(4)
    for (let number = START; number < START + 4; number++)
      assert.equal((await source.headerAt(number))?.number, number)
    const versions = asked.filter(isOfBlock)
    assert.equal(versions.filter((each) => each === 'getBlock 1').length, 1)
    assert.ok(versions.length > 4)
  })
})

describe('a block without a time', () => {
  const without = (isTimeless: (number: number) => boolean) => (method: string, answer: unknown) => {
    if (method !== 'getBlock') return answer
    const block = answer as { blockHeight: number }
    return isTimeless(block.blockHeight) ? { ...block, blockTime: null } : block
  }

  test('has the time of the nearest block below, and times never decrease', async () => {
    const { ledger, source } = await world()
    ledger.falsify = without((number) => number > START && number % 5 !== 0)
    const setup = new ReaderSetup(ledger.chain, source)
    ledger.chain.mine(40)
    await setup.catchUp()
    const blocks = setup.log.flatMap((envelope) => (envelope.kind === 'block' ? [envelope] : []))
    const times = new Map(ledger.chain.headers().map(({ number, time }) => [number, time]))
    for (const { number, time } of blocks)
      assert.equal(time, times.get(number - (number % 5)), `block ${number}`)
    assert.equal(blocks.length, 40)
  })

  test('is not read if no block below has one', async () => {
    const { ledger, source, lines } = await world()
    ledger.chain.mine(100)
    ledger.falsify = without(() => true)
    await assert.rejects(source.head(), { code: 'node_unavailable', message: /has no time/ })
    assert.deepEqual(
      lines.filter(({ level }) => level >= 40),
      [],
    )
  })

  test('whose parent is another block proves the node wrong', async () => {
    const { ledger, source } = await world()
    ledger.chain.mine(10)
    const tip = ledger.chain.tip.number
    ledger.falsify = (method, answer) => {
      const lie = without((number) => number === tip)(method, answer) as { blockHeight: number }
      return method === 'getBlock' && lie.blockHeight === tip - 1 ? { ...lie, blockhash: base58Of('x') } : lie
    }
    await assert.rejects(source.head(), { code: 'node_answer_invalid' })
  })
})

describe('requests', () => {
  test('the head takes two', async () => {
    const { ledger, source, asked } = await world()
    ledger.chain.mine(5)
    await source.head()
    asked.length = 0
    await source.head()
    assert.deepEqual(asked, ['getSlot', 'getBlock 1'])
  })

  test('a confirmed slot whose block cannot be read yet takes one from before', async () => {
    const { ledger, source } = await world()
    ledger.chain.mine(5)
    const { answer } = ledger
    const newest = ledger.slotOf(ledger.chain.tip)
    ledger.answer = async (method, params) => {
      if (method === 'getBlock' && params[0] === newest) throw rpcError(-32_004, 'Block not available')
      return answer(method, params)
    }
    assert.equal((await source.head()).number, START + 3)
  })

  test('fewer accounts are asked for where a node takes no more', async () => {
    const { ledger, rpc } = await world((method, params) => {
      if (method === 'getMultipleAccounts' && (params[0] as string[]).length > 5)
        throw rpcError(-32_602, 'Too many inputs provided; max 5')
    })
    ledger.chain.mine(1)
    const addresses = Array.from({ length: 23 }, (_, at) => base58Of(`mint ${at}`))
    for (const [at, address] of addresses.entries())
      ledger.accounts.set(address, splMint({ supply: BigInt(at) }))
    const found = await rpc.verified((node) => node.accounts(addresses))
    assert.deepEqual(
      found.map((each) => Number(Buffer.from(each?.data ?? []).readBigUInt64LE(36))),
      addresses.map((_, at) => at),
    )
  })
})
