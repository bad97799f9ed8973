import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyOf, TransactionBuilder } from '../../../test/support/builders/parsed-transaction.ts'
import { ACCOUNT_CHANGE } from '../../domain/wallet-balances.ts'
import { encodeOwnerBalances, MAX_AMOUNT, OWNER_BALANCES } from './owner-balances.ts'
import { rawTransactionOf } from './raw-transaction.ts'
import type { SolanaTransaction } from './transaction.ts'
import { walletBalancesOf } from './wallet-balances.ts'

const [ANN, BEN] = [keyOf('ann'), keyOf('ben')]
const [MINT, OTHER] = [keyOf('mint'), keyOf('other mint')]
const [FIRST, SECOND, THIRD] = [keyOf('first'), keyOf('second'), keyOf('third')]
const ANNS = { mint: MINT, owner: ANN }

function tokensIn(builder: TransactionBuilder) {
  return walletBalancesOf(builder.build(), ANN).tokens
}

const started = (): TransactionBuilder => new TransactionBuilder(ANN)

function withLamports(transaction: SolanaTransaction, ...postBalances: bigint[]): SolanaTransaction {
  return { ...transaction, postBalances }
}

test('the wallet has its lamports, and the sum of its accounts of each mint', () => {
  const transaction = started()
    .balance(FIRST, ANNS, 10n, 7n)
    .balance(SECOND, ANNS, 5n, 5n)
    .balance(THIRD, { mint: MINT, owner: BEN }, 0n, 3n)
    .build()
  assert.deepEqual(walletBalancesOf(withLamports(transaction, 99n, 1n), ANN), {
    nativeRaw: 99n,
    tokens: [{ token: MINT, amountRaw: 12n, accounts: 0 }],
  })
})

test('accounts that were created, closed or cleared are distinguished', () => {
  const { created, closed, cleared } = ACCOUNT_CHANGE
  const rows = [
    [undefined, 4n, 4n, created],
    [undefined, 0n, 0n, created],
    [4n, undefined, 0n, closed],
    [4n, 0n, 0n, cleared],
    [0n, 0n, 0n, 0],
    [0n, 4n, 4n, 0],
  ] as const
  for (const [before, after, amountRaw, accounts] of rows) {
    const tokens = tokensIn(started().balance(FIRST, ANNS, before, after))
    assert.deepEqual(tokens, [{ token: MINT, amountRaw, accounts }], `${before} to ${after}`)
  }
  const both = started().balance(FIRST, ANNS, 4n, undefined).balance(SECOND, ANNS, undefined, 1n)
  assert.deepEqual(tokensIn(both), [{ token: MINT, amountRaw: 1n, accounts: created | closed }])
})

test('an account that changes hands is closed for one wallet and new for the other', () => {
  const built = started().balance(FIRST, ANNS, 4n, undefined).build()
  const [was] = built.preTokenBalances
  assert.ok(was !== undefined)
  const transaction = { ...built, postTokenBalances: [{ ...was, owner: BEN }] }
  const [token] = walletBalancesOf(transaction, ANN).tokens
  assert.deepEqual(token, { token: MINT, amountRaw: 0n, accounts: ACCOUNT_CHANGE.closed })
  const [other] = walletBalancesOf(transaction, BEN).tokens
  assert.deepEqual(other, { token: MINT, amountRaw: 4n, accounts: ACCOUNT_CHANGE.created })
})

test('unknown balances are left out', () => {
  const nobodys = started()
    .balance(FIRST, ANNS, 1n, 2n)
    .balance(SECOND, { mint: MINT }, 1n, 2n)
    .balance(THIRD, { mint: OTHER, owner: ANN }, 1n, 2n)
  assert.deepEqual(tokensIn(nobodys), [{ token: OTHER, amountRaw: 2n, accounts: 0 }], 'without an owner')
  const large = started().balance(FIRST, ANNS, 0n, MAX_AMOUNT).balance(SECOND, ANNS, 0n, 1n)
  assert.deepEqual(tokensIn(large), [], 'beyond 64 bits')
  assert.deepEqual(tokensIn(started().balance(FIRST, { mint: 'no key', owner: ANN }, 0n, 1n)), [])
  const twice = started().balance(FIRST, ANNS, 0n, 1n).balance(FIRST, ANNS, 0n, 1n)
  assert.equal(tokensIn(twice)[0]?.amountRaw, 1n, 'an account that is listed twice')
  const plain = started().build()
  const exact = BigInt(Number.MAX_SAFE_INTEGER)
  assert.equal(walletBalancesOf(withLamports(plain, exact), ANN).nativeRaw, exact)
  assert.equal(walletBalancesOf(withLamports(plain, exact + 1n), ANN).nativeRaw, undefined)
  assert.equal(walletBalancesOf(withLamports(plain), ANN).nativeRaw, undefined)
})

test('only a transaction with an instruction of an exchange has the balances of its wallet', () => {
  const transaction = started().balance(FIRST, ANNS, 1n, 2n).build()
  const moved = {
    ...{ isNewMint: false, isIncomplete: false, mintedRaw: 0n, burnedRaw: 0n },
    owners: [{ owner: ANN, beforeRaw: 1n, afterRaw: 2n }],
  }
  const balances = { index: 0, address: MINT, topics: [OWNER_BALANCES], data: encodeOwnerBalances(moved) }
  const swap = { index: 1, address: OTHER, topics: ['0x01'], data: new Uint8Array() }
  const hash = transaction.signature
  const plain = { index: 3, hash, from: ANN, logs: [balances] }
  assert.deepEqual(rawTransactionOf(transaction, 3, [balances]), plain)
  const wallet = { nativeRaw: 0n, tokens: [{ token: MINT, amountRaw: 2n, accounts: 0 }] }
  const logs = [swap, balances]
  assert.deepEqual(rawTransactionOf(transaction, 3, logs), { ...plain, logs, wallet })
  assert.equal(rawTransactionOf({ ...transaction, keys: [] }, 3, logs), undefined)
})
