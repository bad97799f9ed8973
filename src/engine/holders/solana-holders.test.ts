import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ExampleMarket } from '../../../test/support/builders/example-market.ts'
import { keyOf, TransactionBuilder, tokenData } from '../../../test/support/builders/parsed-transaction.ts'
import { TOKEN_PROGRAM } from '../../dex/solana/known-keys.ts'
import { rawLogsOf } from '../../dex/solana/raw-logs.ts'
import type { BlockEnvelope, Fact, RawTransaction } from '../../domain/envelope.ts'

const MINT = keyOf('mint')
const [ANN, BEN, CARL] = ['ann', 'ben', 'carl'].map(keyOf) as [string, string, string]
const INCINERATOR = '1nc1nerator11111111111111111111111111111111'

/** Token accounts are the truth; each transaction reports the ones it names, before and after. */
class Ledger {
  readonly market = new ExampleMarket()
  readonly #accounts = new Map<string, { owner: string; amount: bigint }>()
  #transactions: RawTransaction[] = []

  /** Adds to token accounts, in a transaction of its own. */
  transact(changes: Readonly<Record<string, [owner: string, change: bigint]>>, build = noInstructions): this {
    const builder = build(new TransactionBuilder(ANN))
    for (const [account, [owner, change]] of Object.entries(changes)) {
      const before = this.#accounts.get(account)?.amount
      const amount = (before ?? 0n) + change
      this.#accounts.set(account, { owner, amount })
      builder.balance(keyOf(account), { mint: MINT, owner }, before, amount)
    }
    const index = this.#transactions.length
    const firstIndex = this.#transactions.reduce((sum, { logs }) => sum + logs.length, 0)
    const logs = rawLogsOf(builder.build(), new Map(), firstIndex)
    this.#transactions.push({ index, hash: keyOf(`transaction ${index}`), from: ANN, logs })
    return this
  }

  create(supply: bigint, account = 'ann 1'): this {
    return this.transact({ [account]: [ANN, supply] }, (builder) =>
      builder
        .instruction(TOKEN_PROGRAM, [MINT], tokenData(20))
        .instruction(TOKEN_PROGRAM, [MINT, keyOf(account), ANN], tokenData(7, supply)),
    )
  }

  /** Drops the transactions since the last block, but not what they did. */
  forget(): void {
    this.#transactions = []
  }

  block(...facts: Fact[]): this {
    const { chain, run } = this.market
    const parent = chain.at(-1)
    const number = (parent?.number ?? 99) + 1
    const block: BlockEnvelope = {
      ...{ kind: 'block', chain: CHAIN, number, time: (parent?.time ?? 1_700_000_000) + 1, facts },
      ...{ hash: keyOf(`block ${number} ${run.sets.length}`), parentHash: parent?.hash ?? keyOf('genesis') },
      transactions: this.#transactions,
    }
    this.#transactions = []
    chain.push(block)
    run.apply(block)
    return this
  }

  get balances(): Record<string, bigint> {
    const own = [...this.market.tables.balances.values()].filter(({ token }) => token === MINT)
    return Object.fromEntries(own.map(({ holder, amountRaw }) => [holder, amountRaw]))
  }

  get truth(): Record<string, bigint> {
    const sums: Record<string, bigint> = {}
    for (const { owner, amount } of this.#accounts.values()) sums[owner] = (sums[owner] ?? 0n) + amount
    return Object.fromEntries(Object.entries(sums).filter(([, amount]) => amount !== 0n))
  }
}
const noInstructions = (builder: TransactionBuilder): TransactionBuilder => builder

const CHAIN = new ExampleMarket().block(12).chain[0]?.chain ?? ''

function met(supplyRaw: bigint): Fact {
  const text = Buffer.from('Coin')
  return { type: 'token', address: MINT, nameRaw: text, symbolRaw: text, decimals: 6, supplyRaw }
}

describe('a mint known since its creation', () => {
  const ledger = () =>
    new Ledger()
      .create(1_000n)
      .transact({ 'ann 1': [ANN, -300n], 'ben 1': [BEN, 300n] })
      .block(met(1_000n))

  test('has all its holders, by owner', () => {
    const { market, balances } = ledger()
    assert.deepEqual(balances, { [ANN]: 700n, [BEN]: 300n })
    const { holding, origin } = market.token(MINT)
    assert.deepEqual(holding, { holders: 2, burnedRaw: 0n, lockedRaw: 0n, circulatingRaw: 1_000n })
    assert.deepEqual(origin, { time: 1_700_000_001, creator: ANN })
  })

  test('has the supply that was issued, even if the node reports that of a later block', () => {
    const { market } = new Ledger().create(1_000n).block(met(1_500n))
    assert.equal(market.token(MINT).supplyRaw, 1_000n)
    assert.equal(market.token(MINT).holding?.circulatingRaw, 1_000n)
  })

  test('counts an owner of several accounts once, and an emptied one no more', () => {
    const run = ledger()
      .transact({ 'ben 1': [BEN, -100n], 'ben 2': [BEN, 100n] })
      .transact({ 'ann 1': [ANN, -700n], 'ben 2': [BEN, 700n] })
      .block()
    assert.deepEqual(run.balances, { [BEN]: 1_000n })
    assert.equal(run.market.token(MINT).holding?.holders, 1)
  })

  test('what is burned leaves the supply, what the incinerator owns does not circulate', () => {
    const run = ledger()
      .transact({ 'ben 1': [BEN, -40n] }, (builder) =>
        builder.instruction(TOKEN_PROGRAM, [keyOf('ben 1'), MINT, BEN], tokenData(8, 40n)),
      )
      .transact({ 'ben 1': [BEN, -10n], 'gone 1': [INCINERATOR, 10n] })
      .block()
    const { holding, supplyRaw } = run.market.token(MINT)
    assert.equal(supplyRaw, 960n)
    assert.deepEqual(holding, { holders: 3, burnedRaw: 50n, lockedRaw: 0n, circulatingRaw: 950n })
  })

  test('an undo restores holders and balances', () => {
    const run = ledger()
    const before = { token: run.market.token(MINT), balances: run.balances }
    run.transact({ 'ben 1': [BEN, -300n], 'carl 1': [CARL, 300n] }).block()
    assert.deepEqual(run.balances, { [ANN]: 700n, [CARL]: 300n })
    run.market.undo()
    assert.deepEqual({ token: run.market.token(MINT), balances: run.balances }, before)
    run.market.undo()
    assert.equal(run.market.tables.tokens.get(MINT), undefined)
    assert.deepEqual(run.balances, {})
  })

  test('a balance that no transaction explains makes its holders unknown', () => {
    const run = ledger()
    const strange = new TransactionBuilder()
      .balance(keyOf('carl 1'), { mint: MINT, owner: CARL }, 5n, 4n)
      .balance(keyOf('ben 1'), { mint: MINT, owner: BEN }, 300n, 301n)
    assert.equal(run.market.token(MINT).holding?.holders, 2)
    run.transact({}, () => strange).block()
    assert.equal(run.market.token(MINT).holding, undefined)
    run.market.undo()
    assert.equal(run.market.token(MINT).holding?.holders, 2)
  })

  test('a balance without an owner makes its holders unknown', () => {
    const run = ledger()
    const builder = new TransactionBuilder().balance(keyOf('ben 1'), { mint: MINT }, 300n, 200n)
    run.transact({}, () => builder).block()
    assert.equal(run.market.token(MINT).holding, undefined)
  })
})

describe('a mint from before the first block', () => {
  test('has unknown holders, but true balances of owners that were seen', () => {
    const run = new Ledger().transact({ 'ann 1': [ANN, 700n], 'ben 1': [BEN, 300n] })
    // They existed before: no transaction of the log has filled them.
    run.forget()
    run.transact({ 'ann 1': [ANN, -100n], 'carl 1': [CARL, 100n] }).block(met(1_000n))
    assert.deepEqual(run.balances, { [ANN]: 600n, [CARL]: 100n })
    const { holding, origin } = run.market.token(MINT)
    assert.deepEqual([holding, origin], [undefined, undefined])
    run.transact({ 'ben 1': [BEN, -300n], 'ann 1': [ANN, 300n] }).block()
    assert.deepEqual(run.balances, run.truth)
    assert.equal(run.market.token(MINT).holding, undefined)
  })

  test('that was created a block before it is met is one of them', () => {
    const run = new Ledger().create(1_000n).block()
    run.transact({ 'ann 1': [ANN, -1n], 'ben 1': [BEN, 1n] }).block(met(1_000n))
    assert.deepEqual(run.balances, { [ANN]: 999n, [BEN]: 1n })
    assert.equal(run.market.token(MINT).holding, undefined)
  })
})

test('any transfers between accounts: balances and holders are those of the accounts, also after a fork', () => {
  const transfer = fc.record({ from: fc.nat(7), to: fc.nat(7), part: fc.integer({ min: 0, max: 100 }) })
  const blocks = fc.array(fc.array(transfer, { maxLength: 6 }), { maxLength: 6 })
  fc.assert(
    fc.property(blocks, blocks, (kept, undone) => {
      const place = (account: number): [string, string] => [
        `account ${account}`,
        [ANN, BEN, CARL][account % 3] as string,
      ]
      const run = new Ledger().create(1_000n, 'account 0').block(met(1_000n))
      const extend = (all: typeof kept, amounts: Map<number, bigint>): void => {
        for (const transfers of all) {
          for (const { from, to, part } of transfers) {
            const moved = ((amounts.get(from) ?? 0n) * BigInt(part)) / 100n
            if (from === to || moved === 0n) continue
            amounts.set(from, (amounts.get(from) ?? 0n) - moved)
            amounts.set(to, (amounts.get(to) ?? 0n) + moved)
            const [[source, giver], [target, taker]] = [place(from), place(to)]
            run.transact({ [source]: [giver, -moved], [target]: [taker, moved] })
          }
          run.block()
        }
      }
      const amounts = new Map([[0, 1_000n]])
      extend(kept, amounts)
      const truth = run.truth
      const holding = run.market.token(MINT).holding
      assert.deepEqual(run.balances, truth)
      assert.equal(holding?.holders, Object.keys(truth).length)
      extend(undone, new Map(amounts))
      assert.deepEqual(run.balances, run.truth)
      for (const _ of undone) run.market.undo()
      assert.deepEqual(run.balances, truth)
      assert.deepEqual(run.market.token(MINT).holding, holding)
    }),
    { numRuns: 50 },
  )
})
