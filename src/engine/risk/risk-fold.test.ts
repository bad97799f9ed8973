import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { rawLog } from '../../../test/support/builders/raw-log.ts'
import { EngineRun } from '../../../test/support/rigs/engine-run.ts'
import { TRANSFER } from '../../dex/evm/token-moves.ts'
import { DexRegistry } from '../../dex/registry.ts'
import type { Change } from '../../domain/change.ts'
import type { BlockEnvelope, Fact, RawLog } from '../../domain/envelope.ts'
import { findingsBy, type Inspection } from '../../domain/inspection.ts'

const id = (digit: string, bytes = 20): string => `0x${digit.repeat(bytes * 2)}`
const [TOKEN, QUOTE, POOL, FACTORY] = [id('a'), id('b'), id('c'), id('d')]
const [CREATOR, WHALE, LOCKER, ZERO] = [id('1'), id('2'), id('3'), id('0')]
const DEAD = '0x000000000000000000000000000000000000dead'
const SYNC = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1'

const settings = {
  chain: 'testchain',
  registry: new DexRegistry([{ amm: 'uniswap_v2', protocol: 'uniswap_v2', factory: FACTORY }]),
  quoteAssets: [{ address: QUOTE, kind: 'stable' as const }],
  minDepthUsd: 0n,
  lockers: new Set([LOCKER]),
}

const word = (value: bigint): string => value.toString(16).padStart(64, '0')
const topic = (address: string): string => `0x${'0'.repeat(24)}${address.slice(2)}`
const move = (token: string, from: string, to: string, amount: bigint): RawLog =>
  rawLog(token, [TRANSFER, topic(from), topic(to)], `0x${word(amount)}`)

function block(number: number, logs: readonly RawLog[], facts: readonly Fact[] = []): BlockEnvelope {
  const hash = (at: number): string => `0x${at.toString(16).padStart(64, '0')}`
  const transactions =
    logs.length === 0
      ? []
      : [
          {
            index: 0,
            hash: hash(number + 1_000),
            from: CREATOR,
            logs: logs.map((log, index) => ({ ...log, index })),
          },
        ]
  return {
    ...{ kind: 'block', chain: 'testchain', number, hash: hash(number), parentHash: hash(number - 1) },
    ...{ time: 1_000 + number, transactions, facts },
  }
}

const token = (address: string, supplyRaw: bigint): Fact => ({
  ...{
    type: 'token',
    address,
    nameRaw: Buffer.from('T'),
    symbolRaw: Buffer.from('T'),
    decimals: 0,
    supplyRaw,
  },
})
const allRead = (address: string): Fact => ({
  ...{ type: 'transfers', address, upTo: 9, isLast: true, first: undefined, gains: [] },
  ...{ issuedRaw: 0n, burnedRaw: 0n, mintedToZeroRaw: 0n },
})
const balance = (holder: string, amountRaw: bigint): Fact => ({
  ...{ type: 'balance', address: TOKEN, holder, amountRaw },
})
const pool: Fact = {
  ...{ type: 'pool', address: POOL, factory: FACTORY, tokens: [TOKEN, QUOTE], pricing: { kind: 'reserves' } },
  ...{ reservesBefore: [0n, 0n] },
}
const step = { works: true, taxPpm: 0, gas: 1, reason: undefined }
const inspection: Inspection = {
  ...{ token: TOKEN, block: { number: 11, hash: id('e', 32) }, codeHash: id('f', 32), creator: undefined },
  ...{
    owner: CREATOR,
    proxy: undefined,
    findings: findingsBy((flag) => (flag === 'mint' ? ['mint()'] : [])),
  },
  trial: { pair: POOL, method: 'simulate', buy: step, transfer: step, sell: step },
}

/** 1,000 tokens: 100 with the creator, 300 with a whale, 50 locked, 150 dead, 400 in the pool; 3 of 4 shares locked. */
function market(): EngineRun {
  const run = new EngineRun(settings)
  run.apply(
    block(
      10,
      [
        move(TOKEN, ZERO, CREATOR, 1_000n),
        move(TOKEN, CREATOR, WHALE, 300n),
        move(TOKEN, CREATOR, LOCKER, 50n),
        move(TOKEN, CREATOR, DEAD, 150n),
        move(TOKEN, CREATOR, POOL, 400n),
        move(POOL, ZERO, ZERO, 10n),
        move(POOL, ZERO, CREATOR, 30n),
        move(POOL, CREATOR, LOCKER, 20n),
        rawLog(POOL, [SYNC], `0x${word(400n)}${word(800n)}`),
      ],
      [token(TOKEN, 1_000n), token(QUOTE, 5n), pool],
    ),
  )
  run.apply(block(11, [], [allRead(TOKEN)]))
  return run
}

function changesOf<Type extends Change['type']>(run: EngineRun, type: Type) {
  const changes = run.sets.at(-1)?.changes ?? []
  return changes.filter((change): change is Extract<Change, { type: Type }> => change.type === type)
}

test('a report joins what the contract can do with who holds the token and the shares of its pool', () => {
  const run = market()
  run.apply(block(12, [], [{ type: 'inspection', address: TOKEN, inspection }]))
  const [report] = changesOf(run, 'contract').map(({ contract }) => contract)
  assert.equal(report?.creator, CREATOR)
  assert.deepEqual(report?.holdings, {
    hasUnreliableBalances: false,
    creatorPpm: 100_000,
    ownerPpm: 100_000,
    lockedPpm: 200_000,
    // The creator and the whale count; pools, burned and locked amounts do not.
    largePpm: 400_000,
    pool: { pair: POOL, holders: 2, issuedRaw: 40n, lockedPpm: 750_000 },
  })
  assert.deepEqual(
    report?.score.factors.map(({ code, points }) => [code, points]),
    [
      ['mint', 20],
      ['creator_share', 10],
      ['large_holders', 5],
      ['liquidity_not_locked', 5],
    ],
  )
  const risk = { score: 40, isHoneypot: false, isMintable: true }
  assert.deepEqual(
    changesOf(run, 'token').map(({ token }) => [token.address, token.risk]),
    [[TOKEN, risk]],
  )
})

test('a fork that undoes the examination takes the report back', () => {
  const run = market()
  run.apply(block(12, [], [{ type: 'inspection', address: TOKEN, inspection }]))
  run.apply({ kind: 'undo', chain: 'testchain', lastValid: { number: 11, hash: block(11, []).hash } })
  assert.deepEqual(changesOf(run, 'contractRemoved'), [{ type: 'contractRemoved', token: TOKEN }])
  assert.equal(changesOf(run, 'token')[0]?.token.risk, undefined)
})

test('holders are unknown until all transfers of a token are read', () => {
  const run = new EngineRun(settings)
  run.apply(block(10, [move(TOKEN, ZERO, CREATOR, 1_000n)], [token(TOKEN, 1_000n), token(QUOTE, 5n), pool]))
  run.apply(block(11, [], [{ type: 'inspection', address: TOKEN, inspection }]))
  const [report] = changesOf(run, 'contract').map(({ contract }) => contract)
  assert.deepEqual(
    [report?.holdings.creatorPpm, report?.holdings.largePpm, report?.creator],
    [undefined, undefined, undefined],
  )
})

test('an inspection of an unknown token is not published', () => {
  const run = market()
  const address = id('9')
  run.apply(block(12, [], [{ type: 'inspection', address, inspection: { ...inspection, token: address } }]))
  assert.deepEqual(changesOf(run, 'contract'), [])
})

describe('the score follows what it is made of', () => {
  const scored = (run: EngineRun) => ({
    token: changesOf(run, 'token').find((change) => change.token.address === TOKEN)?.token.risk?.score,
    report: changesOf(run, 'contract')[0]?.contract.score.points,
  })
  const examined = (): EngineRun => {
    const run = market()
    run.apply(block(12, [], [{ type: 'inspection', address: TOKEN, inspection }]))
    assert.deepEqual(scored(run), { token: 40, report: 40 })
    return run
  }
  const cases: [string, readonly RawLog[], readonly Fact[], number][] = [
    ['the creator sells', [move(TOKEN, CREATOR, POOL, 100n)], [], 30],
    ['the creator buys more', [move(TOKEN, POOL, CREATOR, 150n)], [], 60],
    ['shares of the pool are unlocked', [move(POOL, LOCKER, CREATOR, 15n)], [], 50],
    ['all shares of the pool are locked', [move(POOL, CREATOR, DEAD, 10n)], [], 35],
    // What its holders have is unknown then, and the unreliable balances count instead: by chance for as much.
    ['a balance is not what transfers say', [], [balance(WHALE, 1n)], 40],
    ['the supply shrinks', [move(TOKEN, WHALE, ZERO, 300n), move(TOKEN, POOL, ZERO, 300n)], [], 50],
    ['the pool is emptied', [rawLog(POOL, [SYNC], `0x${word(0n)}${word(0n)}`)], [], 35],
  ]
  for (const [name, logs, facts, points] of cases) {
    test(name, () => {
      const run = examined()
      run.apply(block(13, logs, facts))
      assert.deepEqual(scored(run), { token: points, report: points })
      run.apply({ kind: 'undo', chain: 'testchain', lastValid: { number: 12, hash: block(12, []).hash } })
      assert.deepEqual(scored(run), { token: 40, report: 40 })
    })
  }

  test('history that is read only after the examination', () => {
    const facts = [token(TOKEN, 1_000n), token(QUOTE, 5n), pool]
    const run = new EngineRun(settings)
    run.apply(block(10, [move(TOKEN, ZERO, CREATOR, 1_000n)], facts))
    run.apply(block(11, [], [{ type: 'inspection', address: TOKEN, inspection }]))
    assert.deepEqual(scored(run), { token: 20, report: 20 })
    run.apply(block(12, [], [allRead(TOKEN)]))
    assert.deepEqual(scored(run), { token: 55, report: 55 })
    assert.equal(changesOf(run, 'contract')[0]?.contract.creator, CREATOR)
  })

  test('a transfer that changes no risk factor is not published', () => {
    const run = examined()
    run.apply(block(13, [move(TOKEN, POOL, id('4'), 1n)]))
    assert.deepEqual(changesOf(run, 'contract'), [])
  })
})
