import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { keyOf, TransactionBuilder, tokenData } from '../../../test/support/builders/parsed-transaction.ts'
import { noMoves } from '../move-sums.ts'
import { addMove, isMove, movesOf } from '../token-moves.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM, WSOL } from './known-keys.ts'
import { encodeOwnerBalances, MAX_AMOUNT, newMintsIn, readOwnerBalances } from './owner-balances.ts'
import { rawLogsOf } from './raw-logs.ts'
import type { SolanaTransaction, TokenBalance } from './transaction.ts'

const [MINT, OTHER, ANN, BEN] = ['mint', 'other mint', 'ann', 'ben'].map(keyOf) as [
  string,
  string,
  string,
  string,
]
const [ANN_1, ANN_2, BEN_1] = ['ann 1', 'ann 2', 'ben 1'].map(keyOf) as [string, string, string]
const ANNS = { mint: MINT, owner: ANN }
const BENS = { mint: MINT, owner: BEN }

function balancesIn(transaction: SolanaTransaction) {
  const logs = rawLogsOf(transaction, new Map(), 5)
  for (const [index, log] of logs.entries()) {
    assert.equal(log.index, 5 + index)
    assert.ok(isMove(log, false))
  }
  return movesOf({ logs }, () => false)
}

const nothing = { isNewMint: false, isIncomplete: false, mintedRaw: 0n, burnedRaw: 0n }

describe('synthetic transactions', () => {
  test('a transfer changes two owners', () => {
    const transaction = new TransactionBuilder()
      .balance(ANN_1, ANNS, 10n, 7n)
      .balance(BEN_1, BENS, 0n, 3n)
      .build()
    const owners = [
      { owner: ANN, beforeRaw: 10n, afterRaw: 7n },
      { owner: BEN, beforeRaw: 0n, afterRaw: 3n },
    ]
    assert.deepEqual(balancesIn(transaction), [{ token: MINT, ...nothing, owners }])
    assert.deepEqual(balancesIn({ ...transaction, isFailed: true }), [])
  })

  test('a move between accounts of one owner changes nothing', () => {
    const moved = new TransactionBuilder().balance(ANN_1, ANNS, 10n, 4n).balance(ANN_2, ANNS, undefined, 6n)
    assert.deepEqual(balancesIn(moved.build()), [])
  })

  test('an opened account had nothing, a closed one has nothing', () => {
    const transaction = new TransactionBuilder()
      .balance(ANN_1, ANNS, 10n, undefined)
      .balance(BEN_1, BENS, undefined, 10n)
      .build()
    const [move] = balancesIn(transaction)
    assert.ok(move !== undefined && 'owners' in move)
    assert.deepEqual(
      move.owners.map(({ owner, beforeRaw, afterRaw }) => [owner, afterRaw - beforeRaw]),
      [
        [BEN, 10n],
        [ANN, -10n],
      ],
    )
  })

  test('an account that changes its owner takes its balance along', () => {
    const given = new TransactionBuilder()
      .balance(ANN_1, ANNS, 10n, undefined)
      .balance(ANN_1, BENS, undefined, 10n)
    const owners = [
      { owner: BEN, beforeRaw: 0n, afterRaw: 10n },
      { owner: ANN, beforeRaw: 10n, afterRaw: 0n },
    ]
    assert.deepEqual(balancesIn(given.build()), [{ token: MINT, ...nothing, owners }])
  })

  test('minted and burned, checked or not, at any depth and by both programs', () => {
    const transaction = new TransactionBuilder()
      .instruction(TOKEN_PROGRAM, [MINT, ANN_1, ANN], tokenData(7, 100n))
      .instruction(TOKEN_2022_PROGRAM, [MINT, ANN_1, ANN], tokenData(14, 20n, 6), 3)
      .instruction(TOKEN_PROGRAM, [ANN_1, MINT, ANN], tokenData(8, 30n), 2)
      .instruction(TOKEN_PROGRAM, [ANN_1, MINT, ANN], tokenData(15, 4n, 6))
      // The same bytes in another program mean something else.
      .instruction(keyOf('a program'), [MINT, ANN_1, ANN], tokenData(7, 1_000n))
      .balance(ANN_1, ANNS, 0n, 86n)
      .build()
    const owners = [{ owner: ANN, beforeRaw: 0n, afterRaw: 86n }]
    assert.deepEqual(balancesIn(transaction), [
      { token: MINT, ...nothing, mintedRaw: 120n, burnedRaw: 34n, owners },
    ])
  })

  test('a fee that is withheld is neither: what leaves one owner does not reach the other', () => {
    const transaction = new TransactionBuilder()
      .instruction(TOKEN_2022_PROGRAM, [ANN_1, MINT, BEN_1, ANN], tokenData(12, 100n, 6))
      .balance(ANN_1, { ...ANNS, program: TOKEN_2022_PROGRAM }, 100n, 0n)
      .balance(BEN_1, { ...BENS, program: TOKEN_2022_PROGRAM }, 0n, 99n)
      .build()
    const sums = noMoves()
    for (const move of balancesIn(transaction)) addMove(sums, move)
    assert.deepEqual([sums.gains.get(ANN), sums.gains.get(BEN)], [-100n, 99n])
    assert.deepEqual([sums.issuedRaw, sums.burnedRaw], [0n, 0n])
  })

  test('instructions of a batch count like any other', () => {
    const batch = (...calls: [accounts: number, data: Uint8Array][]): Uint8Array =>
      Buffer.concat([
        Uint8Array.of(0xff),
        ...calls.map(([accounts, data]) => Buffer.concat([Uint8Array.of(accounts, data.length), data])),
      ])
    const accounts = [MINT, MINT, ANN_1, ANN, ANN_1, MINT, ANN]
    const whole = batch([1, tokenData(20)], [3, tokenData(7, 9n)], [3, tokenData(8, 2n)])
    const built = (data: Uint8Array) =>
      balancesIn(new TransactionBuilder().instruction(TOKEN_PROGRAM, accounts, data).build())
    const issued = { token: MINT, isNewMint: true, isIncomplete: false, mintedRaw: 9n, burnedRaw: 2n }
    assert.deepEqual(built(whole), [{ ...issued, owners: [] }])
    assert.deepEqual(built(whole.subarray(0, -1)), [], 'a truncated batch')
    assert.deepEqual(built(batch([9, tokenData(20)])), [], 'more accounts than there are')
  })

  test('a new mint is marked, even before it has any balance', () => {
    for (const tag of [0, 20]) {
      const transaction = new TransactionBuilder()
        .instruction(TOKEN_2022_PROGRAM, [MINT], tokenData(tag))
        .balance(ANN_1, { mint: OTHER, owner: ANN }, 1n, 2n)
        .build()
      const logs = rawLogsOf(transaction, new Map(), 0)
      assert.deepEqual([...newMintsIn([{ logs }])], [MINT])
      assert.equal(logs.length, 2)
    }
  })

  test('a balance without an owner makes the mint incomplete, unless it did not change', () => {
    const unknown = { mint: MINT, owner: undefined }
    const changed = new TransactionBuilder().balance(ANN_1, unknown, 10n, 7n).balance(BEN_1, BENS, 0n, 3n)
    const owners = [{ owner: BEN, beforeRaw: 0n, afterRaw: 3n }]
    assert.deepEqual(balancesIn(changed.build()), [{ token: MINT, ...nothing, isIncomplete: true, owners }])
    assert.deepEqual(balancesIn(new TransactionBuilder().balance(ANN_1, unknown, 10n, 10n).build()), [])
  })

  test('sums beyond 64 bits and owners that are no keys make the mint incomplete', () => {
    const sum = new TransactionBuilder()
      .balance(ANN_1, ANNS, undefined, MAX_AMOUNT)
      .balance(ANN_2, ANNS, undefined, 1n)
    const owner = new TransactionBuilder().balance(ANN_1, { mint: MINT, owner: 'ann' }, 0n, 1n)
    const minted = new TransactionBuilder()
      .instruction(TOKEN_PROGRAM, [MINT, ANN_1, ANN], tokenData(7, MAX_AMOUNT))
      .instruction(TOKEN_PROGRAM, [MINT, ANN_1, ANN], tokenData(7, 1n))
    for (const transaction of [sum, owner, minted])
      assert.deepEqual(balancesIn(transaction.build()), [
        { token: MINT, ...nothing, isIncomplete: true, owners: [] },
      ])
    const mint = new TransactionBuilder().balance(ANN_1, { mint: 'mint', owner: ANN }, 0n, 1n)
    assert.deepEqual(balancesIn(mint.build()), [], 'a mint that is no key is no token')
  })

  test('wrapped SOL is left out', () => {
    const wrapped = new TransactionBuilder().balance(ANN_1, { mint: WSOL, owner: ANN }, 0n, 1n)
    assert.deepEqual(balancesIn(wrapped.build()), [])
  })
})

const amount = fc.bigInt(0n, 1n << 40n)
const owner = fc.constantFrom(ANN, BEN, keyOf('carl'))
const mint = fc.constantFrom(MINT, OTHER)
/** Each account has at most one balance before and one after, of any mint and owner. */
const side = fc.option(fc.record({ mint, owner, amount }), { nil: undefined })
const accounts = fc.array(fc.record({ before: side, after: side }), { maxLength: 12 })

function transactionOf(changes: readonly { before: Side; after: Side }[]): SolanaTransaction {
  const builder = new TransactionBuilder()
  for (const [index, { before, after }] of changes.entries()) {
    const account = keyOf(`account ${index}`)
    if (before !== undefined) builder.balance(account, before, before.amount, undefined)
    if (after !== undefined) builder.balance(account, after, undefined, after.amount)
  }
  return builder.build()
}
type Side = { mint: string; owner: string; amount: bigint } | undefined

describe('any transactions', () => {
  test('the gains of each owner are those of its token accounts', () => {
    fc.assert(
      fc.property(fc.array(accounts, { maxLength: 5 }), (all) => {
        const transactions = all.map(transactionOf)
        for (const token of [MINT, OTHER]) {
          const sums = noMoves()
          for (const move of transactions.flatMap(balancesIn)) if (move.token === token) addMove(sums, move)
          const gains = new Map<string, bigint>()
          const add = (balances: readonly TokenBalance[], sign: bigint): void => {
            for (const each of balances) {
              if (each.mint !== token || each.owner === undefined) continue
              gains.set(each.owner, (gains.get(each.owner) ?? 0n) + sign * each.amount)
            }
          }
          for (const { preTokenBalances, postTokenBalances } of transactions) {
            add(preTokenBalances, -1n)
            add(postTokenBalances, 1n)
          }
          const isGain = ([, gain]: readonly [string, bigint]): boolean => gain !== 0n
          assert.deepEqual(
            new Map([...sums.gains].filter(isGain).sort()),
            new Map([...gains].filter(isGain).sort()),
          )
        }
      }),
    )
  })

  test('a balance whose history is unknown is never above the true one, and exact for an owner with one account', () => {
    const moves = fc.array(
      fc.record({ from: fc.nat(5), to: fc.nat(5), part: fc.integer({ min: 0, max: 100 }) }),
      {
        minLength: 1,
        maxLength: 30,
      },
    )
    const starts = fc.array(fc.bigInt(0n, 1_000n), { minLength: 6, maxLength: 6 })
    fc.assert(
      fc.property(starts, moves, (balances, all) => {
        const held = [...balances]
        const ownerOf = (account: number): string =>
          account < 4 ? (account < 2 ? ANN : BEN) : keyOf(`owner ${account}`)
        const sums = noMoves()
        for (const { from, to, part } of all) {
          const moved = ((held[from] as bigint) * BigInt(part)) / 100n
          if (from === to || moved === 0n) continue
          const builder = new TransactionBuilder()
          for (const [account, change] of [
            [from, -moved],
            [to, moved],
          ] as const) {
            const before = held[account] as bigint
            held[account] = before + change
            builder.balance(
              keyOf(`${account}`),
              { mint: MINT, owner: ownerOf(account) },
              before,
              before + change,
            )
          }
          for (const move of balancesIn(builder.build())) addMove(sums, move)
        }
        for (const [holder, gain] of sums.gains) {
          const known = (sums.floors?.get(holder) ?? 0n) + gain
          const own = held.flatMap((balance, account) => (ownerOf(account) === holder ? [balance] : []))
          const truth = own.reduce((sum, balance) => sum + balance, 0n)
          assert.ok(known >= 0n && known <= truth, `${known} of ${truth}`)
          if (own.length === 1) assert.equal(known, truth)
        }
      }),
    )
  })

  test('a record is read as it was written, and nothing else is one', () => {
    const fixed = fc.bigInt(0n, MAX_AMOUNT)
    const plain = { noNullPrototype: true } as const
    const each = fc.record({ owner, beforeRaw: fixed, afterRaw: fixed }, plain)
    const flags = { isNewMint: fc.boolean(), isIncomplete: fc.boolean() }
    const sums = { mintedRaw: fixed, burnedRaw: fixed, owners: fc.array(each) }
    const content = fc.record({ ...flags, ...sums }, plain)
    fc.assert(
      fc.property(content, fc.nat(), (balances, at) => {
        const bytes = encodeOwnerBalances(balances)
        assert.deepEqual(readOwnerBalances(bytes), balances)
        assert.equal(readOwnerBalances(bytes.subarray(0, at % bytes.length)), undefined)
        assert.equal(readOwnerBalances(Buffer.concat([bytes, Uint8Array.of(0)])), undefined)
      }),
    )
  })
})
