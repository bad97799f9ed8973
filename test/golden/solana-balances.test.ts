import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noMoves } from '../../src/dex/move-sums.ts'
import { mintBalancesIn, newMintsIn } from '../../src/dex/solana/owner-balances.ts'
import { rawLogsOf } from '../../src/dex/solana/raw-logs.ts'
import { addMove } from '../../src/dex/token-moves.ts'
import {
  allSolanaTransactions,
  hasSolanaRecordings,
  type RecordedTransaction,
  rawTransactions,
} from '../support/recorded/recorded-solana.ts'

const WSOL = 'So11111111111111111111111111111111111111112'

/** Balances as the node returned them. */
type Raw = { mint: string; owner?: string; uiTokenAmount: { amount: string } }
type Meta = { err: unknown; preTokenBalances: Raw[]; postTokenBalances: Raw[] }

test('the change of each owner and mint is that of the balances of the node', {
  skip: !hasSolanaRecordings,
}, () => {
  const base64 = allSolanaTransactions().slice(0, 125)
  let changes = 0
  for (const [index, { meta }] of rawTransactions().entries()) {
    const { name, transaction } = base64[index] as RecordedTransaction
    const logs = rawLogsOf(transaction, new Map(), 0)
    const { err, preTokenBalances, postTokenBalances } = meta as Meta
    const expected = err === null ? gainsOf(preTokenBalances, postTokenBalances) : new Map()
    const found = new Map<string, bigint>()
    for (const balances of mintBalancesIn(logs)) {
      assert.ok(!balances.isIncomplete, name)
      const sums = noMoves()
      addMove(sums, balances)
      for (const [owner, gain] of sums.gains) found.set(`${balances.token} ${owner}`, gain)
    }
    assert.deepEqual(new Map([...found].sort()), new Map([...expected].sort()), name)
    changes += found.size
  }
  console.log(`${changes} changes of owners in 125 transactions are those of the node's balances`)
  assert.ok(changes > 300)
})

test('minted and burned amounts are the difference of all balances', { skip: !hasSolanaRecordings }, () => {
  let issued = 0
  const withheld: string[] = []
  for (const { name, transaction } of allSolanaTransactions()) {
    for (const { token, mintedRaw, burnedRaw, owners } of mintBalancesIn(
      rawLogsOf(transaction, new Map(), 0),
    )) {
      const change = owners.reduce((sum, { beforeRaw, afterRaw }) => sum + afterRaw - beforeRaw, 0n)
      if (mintedRaw > 0n || burnedRaw > 0n) issued += 1
      // A Token-2022 mint withholds fees in accounts, beside their balances.
      if (change < mintedRaw - burnedRaw) withheld.push(`${name} ${token}: ${mintedRaw - burnedRaw - change}`)
      else assert.equal(change, mintedRaw - burnedRaw, `${name} ${token}`)
    }
  }
  for (const line of withheld) console.log('withheld fee:', line)
  console.log(`${issued} mints with issuance`)
  assert.equal(withheld.length, 2)
  assert.equal(issued, 31)
})

test('three coins of Pump.fun and one LP token are new', { skip: !hasSolanaRecordings }, () => {
  const created = allSolanaTransactions().flatMap(({ name, transaction }) => {
    const logs = rawLogsOf(transaction, new Map(), 0)
    return [...newMintsIn([{ logs }])].map((mint) => {
      const balances = mintBalancesIn(logs).find(({ token }) => token === mint)
      return `${name} ${mint} minted ${balances?.mintedRaw}`
    })
  })
  for (const line of created) console.log(line)
  assert.equal(created.length, 4)
})

function gainsOf(before: readonly Raw[], after: readonly Raw[]): Map<string, bigint> {
  const gains = new Map<string, bigint>()
  const add = ({ mint, owner, uiTokenAmount }: Raw, sign: bigint): void => {
    if (mint === WSOL) return
    const key = `${mint} ${owner}`
    gains.set(key, (gains.get(key) ?? 0n) + sign * BigInt(uiTokenAmount.amount))
  }
  for (const each of before) add(each, -1n)
  for (const each of after) add(each, 1n)
  return new Map([...gains].filter(([, gain]) => gain !== 0n))
}
