import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { hasSolanaRecordings, rawTransactions } from '../../../test/support/recorded/recorded-solana.ts'
import { ReaderSetup } from '../../../test/support/rigs/reader-setup.ts'
import { GENESIS_HASH, rpcError, SolanaLedger } from '../../../test/support/rigs/solana-ledger.ts'
import { createTestCommon } from '../../../test/support/rigs/test-common.ts'
import type { SolanaTransaction } from '../../dex/solana/transaction.ts'
import { base58Text } from '../../domain/base58.ts'
import type { RawLog } from '../../domain/envelope.ts'
import { firstBlockAt } from '../first-block-at.ts'
import type { ChainSource } from '../source.ts'
import { createSolanaRpc } from './rpc.ts'
import { createSolanaSource } from './source.ts'

const START = 1_000
/** The program of Pump.fun. */
const PROGRAM = '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P'
const SETTINGS = { lookEveryMs: 50, lastResortMs: 5, lagAfterMs: 200 }

const stop = new AbortController()
const ledgers: SolanaLedger[] = []
after(() => {
  stop.abort()
  for (const ledger of ledgers) ledger.close()
})

/** One log for each instruction of the program. */
function logsOf({ keys, instructions }: SolanaTransaction, firstIndex: number): RawLog[] {
  const own = instructions.filter(({ program }) => base58Text(keys[program] as Uint8Array, 0) === PROGRAM)
  return own.map(({ data }, nth) => ({ index: firstIndex + nth, address: PROGRAM, topics: [], data }))
}

function ledgerOf(first = START): SolanaLedger {
  const ledger = new SolanaLedger(first)
  ledgers.push(ledger)
  return ledger
}

type World = { source: ChainSource; failures: string[] }

/** The product's own client and pool over HTTP. */
async function sourceOf(...nodes: SolanaLedger[]): Promise<World> {
  const failures: string[] = []
  const rpc = createSolanaRpc({
    urls: await Promise.all(nodes.map((ledger) => ledger.listen())),
    genesisHash: GENESIS_HASH,
    logger: createTestCommon().logger,
    signal: stop.signal,
    settings: SETTINGS,
    metrics: { answered: () => undefined, up: () => undefined },
  })
  const blame = (label: string, reason: string): void => {
    failures.push(`${label.split(':')[0]}: ${reason}`)
    rpc.blame(label, reason)
  }
  return { source: createSolanaSource({ ...rpc, blame }, { logsOf }), failures }
}

async function setupOf(ledger: SolanaLedger): Promise<ReaderSetup> {
  return new ReaderSetup(ledger.chain, (await sourceOf(ledger)).source)
}

describe('over HTTP', () => {
  test('blocks link over skipped slots, through forks and finality', async () => {
    const ledger = ledgerOf()
    const setup = await setupOf(ledger)
    ledger.chain.mine(60)
    await setup.catchUp()
    const slots = ledger.chain.headers().map((header) => ledger.slotOf(header))
    assert.ok(slots.some((slot, at) => at > 0 && slot > (slots[at - 1] as number) + 1))
    ledger.chain.finalise(START + 20)
    await setup.catchUp(1)
    for (const depth of [1, 5, 32]) {
      ledger.chain.fork(depth, depth + 2)
      await setup.catchUp()
    }
    assert.deepEqual(setup.canonical(), ledger.chain.hashes())
    const other = setup.kinds().filter((kind) => !kind.startsWith('block'))
    assert.deepEqual(other, ['final 1020', 'undo to 1058', 'undo to 1056', 'undo to 1031'])
  })

  test('a lagging node undoes nothing', async () => {
    const ledger = ledgerOf()
    const setup = await setupOf(ledger)
    ledger.chain.mine(20)
    await setup.catchUp()
    ledger.chain.reportLower(9)
    let looks = 0
    await setup.read(() => looks++ === 3)
    assert.equal(setup.log.length, 20)
  })

  test('a node of another cluster is not used', async () => {
    const [ours, other] = [ledgerOf(), ledgerOf()]
    other.falsify = (method, answer) => (method === 'getGenesisHash' ? '1'.repeat(32) : answer)
    ours.chain.mine(3)
    other.chain.fork(0, 9)
    const { source } = await sourceOf(ours, other)
    for (let times = 0; times < 5; times++) assert.equal((await source.head()).hash, ours.chain.tip.hash)
  })

  test('a block by time, far below the head', async () => {
    const ledger = ledgerOf(1)
    ledger.chain.mine(5_000)
    const { source } = await sourceOf(ledger)
    assert.equal(await firstBlockAt(source, 321), 321)
    assert.equal((await source.headerAt(4_000))?.number, 4_000)
    assert.equal(await source.headerAt(5_001), undefined)
  })
})

describe('an answer that cannot be true', () => {
  const block = (changes: object) => (method: string, answer: unknown) =>
    method === 'getBlock' ? { ...(answer as object), ...changes } : answer
  const instead = (name: string, value: unknown) => (method: string, answer: unknown) =>
    method === name ? value : answer
  const lies: Record<string, (method: string, answer: unknown) => unknown> = {
    'malformed hash': block({ blockhash: '0OIl' }),
    'hash of 33 bytes': block({ blockhash: 'z'.repeat(44) }),
    'malformed parent hash': block({ previousBlockhash: null }),
    'parent slot above': block({ parentSlot: 2 ** 40 }),
    'no height': block({ blockHeight: null }),
    'height above the slot': block({ blockHeight: 2 ** 40 }),
    'another height': block({ blockHeight: 7 }),
    'no time': block({ blockTime: null }),
    'time beyond 2106': block({ blockTime: 2 ** 33 }),
    'no transactions': block({ transactions: undefined }),
    'transactions that are none': block({ transactions: ['x'] }),
    'malformed transaction': block({
      transactions: [{ transaction: ['AAAA', 'base64'], meta: { err: null } }],
    }),
    'block that is a list': instead('getBlock', [1]),
    'slot that is text': instead('getSlot', '12'),
    'negative slot': instead('getSlot', -1),
    'slots out of order': instead('getBlocksWithLimit', [2_010, 2_008]),
    'slots from before': instead('getBlocksWithLimit', [1, 2, 3]),
    'more slots than asked for': instead(
      'getBlocksWithLimit',
      Array.from({ length: 2_000 }, (_, at) => 2_000 + at),
    ),
    'no slots': instead('getBlocksWithLimit', []),
    'slots that are no list': instead('getBlocksWithLimit', {}),
    'every block skipped': (method, answer) => {
      if (method !== 'getBlock') return answer
      throw rpcError(-32_009, 'Slot was skipped, or missing in long-term storage')
    },
    'an error for everything': () => {
      throw rpcError(-32_005, 'Node is behind by 42 slots')
    },
  }
  for (const [name, falsify] of Object.entries(lies)) {
    test(`${name}: nothing enters the log, and reading goes on when it ends`, async () => {
      const ledger = new SolanaLedger(START)
      const setup = new ReaderSetup(ledger.chain, createSolanaSource(ledger.nodes(), { logsOf }))
      ledger.chain.mine(8)
      let lied = 0
      ledger.falsify = (method, answer) => {
        if (++lied > 40) return answer
        return falsify(method, answer)
      }
      await setup.catchUp()
      assert.ok(lied > 40)
      assert.deepEqual(setup.canonical(), ledger.chain.hashes())
      assert.equal(setup.log.length, 8)
    })
  }
})

describe('several nodes', () => {
  test('a deep fork that only one node claims is refuted, and the node blamed', async () => {
    const [honest, liar] = [ledgerOf(), ledgerOf()]
    for (const { chain } of [honest, liar]) chain.mine(30)
    liar.chain.fork(20, 25)
    honest.chain.mine(1)
    const { source, failures } = await sourceOf(liar, honest)
    const suspect = await source.headerAt(liar.chain.tip.number)
    assert.ok(suspect !== undefined)
    const ours = honest.chain.headers()[15] as { number: number; hash: string }
    const doubt = source.doubt?.(suspect, ours, { reason: 'forks deep', isFinal: false })
    await assert.rejects(doubt as Promise<unknown>, { code: 'node_answer_invalid' })
    assert.deepEqual(failures, ['0: forks deep'])
  })

  test('a block that one node lacks comes from the other', async () => {
    const [short, long] = [ledgerOf(), ledgerOf()]
    short.chain.mine(3)
    long.chain.mine(8)
    const { source } = await sourceOf(short, long)
    assert.equal((await source.blockAt?.(START + 7))?.header.hash, long.chain.tip.hash)
  })
})

test('transactions of known programs enter the log; votes and failed ones do not', {
  skip: !hasSolanaRecordings,
}, async () => {
  const ledger = ledgerOf()
  const recorded = rawTransactions()
  const vote = {
    transaction: 'not even parsed',
    meta: { err: null, logMessages: ['Program Vote111111111111111111111111111111111111111 invoke [1]'] },
  }
  const all = recorded.flatMap((each) => [vote, each])
  const perBlock = 20
  ledger.transactionsOf = ({ number }) =>
    all.slice((number - START) * perBlock, (number - START + 1) * perBlock)
  ledger.chain.mine(Math.ceil(all.length / perBlock))
  const setup = await setupOf(ledger)
  await setup.catchUp()
  const found = setup.log.flatMap((envelope) => (envelope.kind === 'block' ? envelope.transactions : []))
  assert.ok(found.length >= 5, `${found.length} transactions`)
  const signatures = found.map(({ hash }) => hash)
  assert.equal(new Set(signatures).size, signatures.length)
  for (const { index, hash, from, logs } of found) {
    assert.match(hash, /^[1-9A-HJ-NP-Za-km-z]{86,88}$/)
    assert.match(from, /^[1-9A-HJ-NP-Za-km-z]{32,44}$/)
    assert.equal(index % 2, 1, 'its place in the block, votes included')
    assert.ok(logs.every(({ address }) => address === PROGRAM))
  }
})
