import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import {
  account,
  borshText,
  keyBytes,
  metadataExtension,
  metaplexMetadata,
  splMint,
  token2022Mint,
} from '../../../../test/support/builders/account-data.ts'
import { NOTHING_COMMITTED } from '../../../../test/support/rigs/memory-state.ts'
import {
  base58Of,
  GENESIS_HASH,
  rpcError,
  SolanaLedger,
} from '../../../../test/support/rigs/solana-ledger.ts'
import { createTestCommon } from '../../../../test/support/rigs/test-common.ts'
import { DexRegistry } from '../../../dex/registry.ts'
import { encodeRecord } from '../../../dex/solana/instruction-record.ts'
import { WSOL } from '../../../dex/solana/known-keys.ts'
import { encodeOwnerBalances, OWNER_BALANCES } from '../../../dex/solana/owner-balances.ts'
import type { Fact, RawLog, RawTransaction } from '../../../domain/envelope.ts'
import { ReaderIndex } from '../../reader-index.ts'
import { createSolanaRpc } from '../rpc.ts'
import { createSolanaSource } from '../source.ts'
import { SolanaFacts } from './facts.ts'
import { metadataAddress } from './token-metadata.ts'

const DLMM = 'LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo'
const LAUNCHLAB = 'LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj'
const [POOL, MINT, OTHER] = ['pool', 'mint', 'other'].map(base58Of) as [string, string, string]
const SOL = { name: 'Solana', symbol: 'SOL', decimals: 9 }
const dexes = [
  { amm: 'meteora_dlmm', protocol: 'meteora_dlmm', factory: DLMM },
  { amm: 'launchlab', protocol: 'raydium_launchlab', factory: LAUNCHLAB },
]
const registry = new DexRegistry(dexes)

const stop = new AbortController()
const ledgers: SolanaLedger[] = []
after(() => {
  stop.abort()
  for (const ledger of ledgers) ledger.close()
})

/** A swap of a DLMM pool: the log names the pool and its vaults, but not the size of its bins. */
function swapLog(pool = POOL): RawLog {
  const keys = [pool, 'vault x', 'vault y', 'user'].map((name, at) =>
    keyBytes(at === 0 ? name : base58Of(name)),
  )
  const move = (source: number, destination: number, amount: bigint) => {
    return { source, destination, mint: undefined, amount, fee: 0n }
  }
  const data = encodeRecord({
    stackHeight: 1,
    keys,
    accounts: [0, 3, 1, 2, 3, 3, 3, 3, 3, 3, 3],
    data: Buffer.from('f8c69e91e17587c8', 'hex'),
    transfers: [move(3, 1, 5n), move(2, 3, 7n)],
    events: [],
    balances: [],
  })
  return { index: 0, address: DLMM, topics: ['0xf8c69e91e17587c8'], data: data as Uint8Array }
}

/** A new curve of LaunchLab that has to raise so much. */
function launchLog(curve: string, mint: string, goal: bigint): RawLog {
  const goalBytes = Buffer.alloc(8)
  goalBytes.writeBigUInt64LE(goal)
  const texts = ['name', 'symbol', 'uri'].map(borshText)
  const event = Buffer.concat([
    Buffer.from('97d7e20976a173ae', 'hex'),
    Buffer.alloc(97),
    ...texts,
    Buffer.of(0),
    Buffer.alloc(16),
    goalBytes,
  ])
  const data = encodeRecord({
    stackHeight: 1,
    keys: [curve, mint, WSOL, base58Of('user')].map(keyBytes),
    accounts: [3, 3, 3, 3, 3, 0, 1, 2],
    data: Buffer.from('afaf6d1f0d989bed', 'hex'),
    transfers: [],
    events: [event],
    balances: [],
  })
  return { index: 0, address: LAUNCHLAB, topics: ['0xafaf6d1f0d989bed'], data: data as Uint8Array }
}

/** The account LbPair of a DLMM pool. */
function pairAccount(binStep: number, ...mints: string[]) {
  const data = Buffer.alloc(904)
  data.write('210b3162b565b10d', 'hex')
  data.writeUInt16LE(binStep, 80)
  for (const [nth, mint] of mints.entries()) keyBytes(mint).copy(data, 88 + 32 * nth)
  return account(DLMM, data)
}

/** With `lie`, a second node answers so about accounts, and is asked first. */
async function world(lie?: unknown, exchanges = registry) {
  const ledger = new SolanaLedger(1_000)
  const liar = new SolanaLedger(1_000, ledger.chain)
  liar.falsify = (method, answer) => (method === 'getMultipleAccounts' ? lie : answer)
  ledgers.push(ledger, liar)
  ledger.chain.mine(3)
  const nodes = lie === undefined ? [ledger] : [liar, ledger]
  const rpc = createSolanaRpc({
    urls: await Promise.all(nodes.map((node) => node.listen())),
    genesisHash: GENESIS_HASH,
    logger: createTestCommon().logger,
    signal: stop.signal,
    settings: { lookEveryMs: 50, lastResortMs: 5, lagAfterMs: 200 },
    metrics: { answered: () => undefined, up: () => undefined },
  })
  const source = createSolanaSource(rpc, { logsOf: () => [] })
  const facts = new SolanaFacts(rpc, exchanges, SOL)
  const asked: unknown[][] = []
  const { falsify } = ledger
  ledger.falsify = (method, answer) => {
    if (method === 'getMultipleAccounts') asked.push([answer])
    return falsify(method, answer)
  }
  const gather = async (...logs: RawLog[]) => {
    const transactions: RawTransaction[] = [{ index: 0, hash: 'sig', from: base58Of('user'), logs }]
    return facts.gather(await source.head(), transactions, new ReaderIndex(NOTHING_COMMITTED))
  }
  return { ledger, source, facts, gather, asked }
}

function putToken(ledger: SolanaLedger, mint: string, name: string): void {
  ledger.accounts.set(mint, splMint({ decimals: 5, supply: 1_000n }))
  ledger.accounts.set(metadataAddress(mint) as string, metaplexMetadata({ mint, name, symbol: name }))
}

const token = (address: string, name: string, decimals = 5, supplyRaw: bigint | undefined = 1_000n): Fact => {
  const [nameRaw, symbolRaw] = [Buffer.from(name), Buffer.from(name)]
  return { type: 'token', address, nameRaw, symbolRaw, decimals, supplyRaw }
}
/** Buffers and arrays of bytes count as equal. */
const plain = (facts: readonly Fact[]): unknown =>
  facts.map((fact) =>
    fact.type !== 'token'
      ? fact
      : {
          ...fact,
          nameRaw: String(Buffer.from(fact.nameRaw)),
          symbolRaw: String(Buffer.from(fact.symbolRaw)),
        },
  )

describe('facts of a block', () => {
  test('a pool from before the start is identified by its account, and its tokens by theirs', async () => {
    const { ledger, gather } = await world()
    ledger.accounts.set(POOL, pairAccount(25, MINT, OTHER))
    putToken(ledger, MINT, 'Bonk')
    const extension = metadataExtension({ mint: OTHER, name: 'Own', symbol: 'Own' })
    ledger.accounts.set(OTHER, token2022Mint({ decimals: 2, supply: 7n }, [[19, extension]]))
    const { transactions, facts } = await gather(swapLog())
    assert.equal(transactions[0]?.logs.length, 1)
    const pricing = { kind: 'bins', binStep: 25 } as const
    const pool = { type: 'pool', address: POOL, factory: DLMM, tokens: [MINT, OTHER], pricing } as const
    const expected = [token(MINT, 'Bonk'), token(OTHER, 'Own', 2, 7n), { ...pool, reservesBefore: undefined }]
    assert.deepEqual(plain(facts), plain(expected))
  })

  test('a new curve carries its goal, and wrapped SOL is the native coin', async () => {
    const { ledger, gather } = await world()
    putToken(ledger, MINT, 'New')
    const { facts } = await gather(launchLog(POOL, MINT, 85_000_000_000n))
    const [sol, mint, pool] = facts
    assert.deepEqual(
      plain([sol as Fact, mint as Fact]),
      plain([
        { ...token(WSOL, 'Solana', 9), symbolRaw: Buffer.from('SOL'), supplyRaw: undefined } as Fact,
        token(MINT, 'New'),
      ]),
    )
    assert.ok(pool?.type === 'pool')
    assert.deepEqual([pool.goalRaw, pool.tokens], [85_000_000_000n, [MINT, WSOL]])
  })

  test('a new curve belongs to its platform, if the settings have a row of it', async () => {
    // The third account of the launch.
    for (const [deployer, factory] of [
      [base58Of('user'), base58Of('user')],
      [base58Of('another'), LAUNCHLAB],
    ] as const) {
      const row = { amm: 'letsbonk', protocol: 'raydium_launchlab', factory: LAUNCHLAB, deployer }
      const { gather } = await world(undefined, new DexRegistry([...dexes, row]))
      const { facts } = await gather(launchLog(POOL, MINT, 1n))
      assert.equal(facts.find((fact) => fact.type === 'pool')?.factory, factory)
    }
  })

  test('balances are in the log if the mint is followed', async () => {
    const { ledger, gather } = await world()
    putToken(ledger, MINT, 'New')
    const nothing = { isNewMint: true, isIncomplete: false, mintedRaw: 5n, burnedRaw: 0n, owners: [] }
    const data = encodeOwnerBalances(nothing)
    const balances = (address: string): RawLog => ({ index: 1, address, topics: [OWNER_BALANCES], data })
    const { transactions } = await gather(balances(OTHER), launchLog(POOL, MINT, 1n), balances(MINT))
    assert.deepEqual(
      transactions[0]?.logs.map(({ address }) => address),
      [LAUNCHLAB, MINT],
    )
    assert.deepEqual((await gather(balances(OTHER))).transactions, [])
  })

  test('accounts that do not exist leave everything unknown', async () => {
    const { gather } = await world()
    assert.deepEqual((await gather(swapLog())).facts, [])
    const { facts } = await gather(launchLog(POOL, MINT, 1n))
    const mint = facts.find(({ address }) => address === MINT)
    assert.ok(mint?.type === 'token')
    assert.deepEqual([mint.decimals, mint.supplyRaw, mint.nameRaw.length], [undefined, undefined, 0])
  })

  test('what was asked ahead is not asked again', async () => {
    const { ledger, source, facts, asked } = await world()
    ledger.accounts.set(POOL, pairAccount(25, MINT, WSOL))
    putToken(ledger, MINT, 'Bonk')
    const head = await source.head()
    const transactions = [{ index: 0, hash: 'sig', from: base58Of('user'), logs: [swapLog()] }]
    const known = new ReaderIndex(NOTHING_COMMITTED)
    await facts.askAhead(head, transactions, known, head.number)
    assert.equal(asked.length, 2)
    assert.equal((await facts.gather(head, transactions, known)).facts.length, 3)
    assert.equal(asked.length, 2)
  })

  test('at most 100 accounts are read at a time', async () => {
    const { ledger, gather, asked } = await world()
    const pools = Array.from({ length: 130 }, (_, at) => base58Of(`pool ${at}`))
    for (const [at, pool] of pools.entries())
      ledger.accounts.set(pool, pairAccount(1, base58Of(`a ${at}`), base58Of(`b ${at}`)))
    const { facts } = await gather(...pools.map(swapLog))
    assert.equal(facts.filter(({ type }) => type === 'pool').length, 130)
    assert.equal(facts.filter(({ type }) => type === 'token').length, 260)
    // 130 pools, then 260 mints with their metadata.
    assert.equal(asked.length, 2 + 6)
  })
})

describe('a hostile node', () => {
  const answers: Record<string, unknown> = {
    nothing: null,
    'no context': { value: [null, null] },
    'too few accounts': { context: { slot: 9_999 }, value: [] },
    'too many accounts': { context: { slot: 9_999 }, value: [null, null, null] },
    'a number for an account': { context: { slot: 9_999 }, value: [1, 1] },
    'an owner that is no key': {
      context: { slot: 9_999 },
      value: [{ owner: 'me', data: ['', 'base64'] }, null],
    },
    'another encoding': {
      context: { slot: 9_999 },
      value: [{ owner: WSOL, data: { parsed: {} } }, null],
    },
    'a size that is no number': {
      context: { slot: 9_999 },
      value: [{ owner: WSOL, data: ['', 'base64'], space: -1 }, null],
    },
    'the state of an earlier slot': { context: { slot: 1 }, value: [null, null] },
  }
  for (const [name, answer] of Object.entries(answers)) {
    test(name, async () => {
      const { ledger, gather } = await world(answer)
      putToken(ledger, MINT, 'Bonk')
      const { facts } = await gather(launchLog(POOL, MINT, 1n))
      assert.deepEqual(plain(facts.filter(({ address }) => address === MINT)), plain([token(MINT, 'Bonk')]))
    })
  }

  test('that has not reached the block is not asked for its state', async () => {
    const { ledger, gather } = await world()
    putToken(ledger, MINT, 'Bonk')
    ledger.falsify = (method, answer) => {
      if (method === 'getMultipleAccounts')
        throw rpcError(-32_016, 'Minimum context slot has not been reached')
      return answer
    }
    await assert.rejects(gather(launchLog(POOL, MINT, 1n)), { code: 'node_unavailable' })
  })

  test('with huge accounts is read up to a limit', async () => {
    const { ledger, gather } = await world()
    const name = 'n'.repeat(50_000)
    ledger.accounts.set(MINT, token2022Mint({}, [[19, metadataExtension({ mint: MINT, name, symbol: 'N' })]]))
    const { facts } = await gather(launchLog(POOL, MINT, 1n))
    assert.deepEqual(plain(facts.filter(({ address }) => address === MINT)), plain([token(MINT, '', 6, 0n)]))
  })
})
