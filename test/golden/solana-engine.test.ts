import assert from 'node:assert/strict'
import { test } from 'node:test'
import { knownPrograms, SOLANA_PROTOCOLS } from '../../src/dex/solana/protocols.ts'
import { rawLogsOf } from '../../src/dex/solana/raw-logs.ts'
import {
  allSolanaTransactions,
  hasSolanaRecordings,
  namedTransactions,
} from '../support/recorded/recorded-solana.ts'
import { SOLANA_DEPLOYMENTS } from '../support/recorded/solana-programs.ts'
import { SolanaEngine } from '../support/rigs/solana-engine.ts'

const PER_BLOCK = 10
const programs = knownPrograms(SOLANA_DEPLOYMENTS)
const protocolOf = new Map<string, string>(
  SOLANA_DEPLOYMENTS.map(({ factory, protocol }) => [factory, protocol]),
)

/** `solana-swaps.test.ts` compares these swaps with the balances of their vaults. */
function decodedSwaps() {
  return allSolanaTransactions().flatMap(({ transaction }) =>
    rawLogsOf(transaction, programs, 0).flatMap((log) => {
      const event = SOLANA_PROTOCOLS[protocolOf.get(log.address) ?? '']?.events[log.topics[0] ?? '']?.(log)
      if (event?.type !== 'swapped') return []
      const { pool, delta0, delta1 } = event
      const [sold, bought] = delta0 > 0n ? [delta0, -delta1] : [delta1, -delta0]
      return [{ hash: transaction.signature, pool, sold, bought }]
    }),
  )
}

test('the engine trades what the recorded transactions swapped', { skip: !hasSolanaRecordings }, () => {
  const engine = new SolanaEngine(() => ({ decimals: 6, supplyRaw: undefined }))
  const all = allSolanaTransactions().map(({ transaction }) => transaction)
  const start = engine.fold(1_750_000_000, [])
  const before = engine.run.stateHash()
  for (let from = 0; from < all.length; from += PER_BLOCK)
    engine.fold(1_750_000_001 + from, all.slice(from, from + PER_BLOCK))
  const trades = engine.run.sets.flatMap(({ changes }) =>
    changes.flatMap((change) => (change.type === 'trade' ? [change.trade] : [])),
  )
  const swaps = decodedSwaps()
  assert.ok(swaps.length > 90)
  assert.deepEqual(
    trades.map(({ transaction, pair, sold, bought }) => {
      return { hash: transaction, pool: pair, sold: sold.amountRaw, bought: bought.amountRaw }
    }),
    swaps,
  )
  for (const { sold, bought } of trades) assert.notEqual(sold.token, bought.token)
  const { number, hash } = start.head
  engine.run.apply({ kind: 'undo', chain: 'solana', lastValid: { number, hash } })
  assert.equal(engine.run.stateHash(), before, 'after an undo of all')
  console.log(`${trades.length} trades in ${new Set(trades.map(({ pair }) => pair)).size} pairs`)
})

type Balance = { mint: string; owner?: string; uiTokenAmount: { amount: string } }
type Meta = { postBalances: number[]; preTokenBalances: Balance[]; postTokenBalances: Balance[] }

test('the holdings of a trade are the balances that the node returned', {
  skip: !hasSolanaRecordings,
}, () => {
  const engine = new SolanaEngine(() => ({ decimals: 6, supplyRaw: undefined }))
  const metas = new Map(namedTransactions().map(({ signature, raw }) => [signature, raw.meta as Meta]))
  const all = allSolanaTransactions().map(({ transaction }) => transaction)
  const recorded = all.filter(({ signature }) => metas.has(signature))
  const { changes } = engine.fold(1_750_000_000, recorded)
  const trades = changes.flatMap((change) => (change.type === 'trade' ? [change.trade] : []))
  let held = 0
  for (const { transaction, wallet, holdings, sold, bought } of trades) {
    const meta = metas.get(transaction)
    assert.ok(meta !== undefined && holdings !== undefined, transaction)
    assert.equal(holdings.nativeRaw, BigInt(meta.postBalances[0] ?? -1), transaction)
    const sides = [
      { token: sold.token, holding: holdings.sold },
      { token: bought.token, holding: holdings.bought },
    ]
    for (const { token, holding } of sides) {
      const own = ({ mint, owner }: Balance): boolean => mint === token && owner === wallet
      const after: Balance[] = meta.postTokenBalances.filter(own)
      const isNamed: boolean = after.length > 0 || meta.preTokenBalances.some(own)
      const sum = after.reduce((total, { uiTokenAmount }) => total + BigInt(uiTokenAmount.amount), 0n)
      assert.equal(holding?.amountRaw, isNamed ? sum : undefined, `${transaction} ${token}`)
      if (isNamed) held += 1
    }
  }
  console.log(`${trades.length} trades with SOL, ${held} sides with tokens of the wallet`)
  assert.ok(trades.length > 80 && held > 80)
})
