import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base58 } from '@scure/base'
import type { KeyPairSigner } from '@solana/kit'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/dex/solana/known-keys.ts'
import { isHoneypot, scoreOf } from '../../src/domain/risk-score.ts'
import { hasCpmm, openCpmmPool } from '../support/rigs/cpmm-world.ts'
import { SplLedger } from '../support/rigs/spl-ledger.ts'
import { initializing, SplWorld } from '../support/rigs/spl-world.ts'

/** Trades in a pool of the real program of Raydium CPMM, simulated by a fresh wallet. */

const skip = !hasCpmm
const SOL = 1_000_000_000n
const LIQUIDITY = { tokensRaw: 500_000_000_000n, solRaw: 50n * SOL }
const WORKS = { works: true, taxPpm: 0, gas: undefined, reason: undefined }
const NOTHING_KNOWN = {
  ...{ hasUnreliableBalances: false, creatorPpm: undefined, ownerPpm: undefined, lockedPpm: undefined },
  ...{ largePpm: undefined, pool: undefined },
}

for (const program of [TOKEN_PROGRAM, TOKEN_2022_PROGRAM]) {
  test(`a token of ${program === TOKEN_PROGRAM ? 'SPL Token' : 'Token-2022'} is bought, transferred and sold`, {
    skip,
  }, async () => {
    const world = await SplWorld.open({ program, hasFreezeAuthority: false })
    const pair = await openCpmmPool(world, LIQUIDITY)
    const before = world.ledger.owners(world.mint.address)
    const inspection = await world.inspect()
    assert.deepEqual(inspection.trial, {
      ...{ pair, method: 'simulate', buy: WORKS, transfer: WORKS, sell: WORKS },
    })
    assert.equal(isHoneypot(inspection), false)
    assert.deepEqual(world.ledger.owners(world.mint.address), before)
  })
}

test('the transfer fee is the tax on every step', { skip }, async () => {
  const fee = Buffer.alloc(10)
  fee.writeUInt16LE(700, 0)
  fee.writeBigUInt64LE(10n ** 15n, 2)
  const ann = base58.decode((await new SplLedger().account('ann')).address)
  const extension = initializing(108, 26, 0, 1, ann, 1, ann, fee)
  const world = await SplWorld.open({ program: TOKEN_2022_PROGRAM, extension, hasFreezeAuthority: false })
  await openCpmmPool(world, LIQUIDITY)
  const { trial } = await world.inspect()
  assert.ok(typeof trial === 'object', String(trial))
  assert.deepEqual(
    [trial.buy, trial.transfer, trial.sell].map((step) => step?.taxPpm),
    [70_000, 70_000, 70_000],
  )
})

test('a token of which most holders are frozen is a honeypot, though a new wallet can trade it', {
  skip,
}, async () => {
  const world = await SplWorld.open({})
  await openCpmmPool(world, LIQUIDITY)
  assert.equal(isHoneypot(await world.inspect()), false)
  await world.freeze(...(world.holders.slice(1) as KeyPairSigner[]))
  const inspection = await world.inspect()
  const { trial, holderTransfers } = inspection
  assert.ok(typeof trial === 'object' && trial.sell?.works)
  assert.deepEqual([holderTransfers?.tried, holderTransfers?.failed], [4, 4])
  assert.equal(isHoneypot(inspection), true)
  assert.equal(scoreOf(inspection, NOTHING_KNOWN).points, 100)
})

test('an empty pool, wallets without SOL, and a node that cannot simulate', { skip }, async () => {
  const small = await SplWorld.open({ hasFreezeAuthority: false })
  await openCpmmPool(small, { tokensRaw: 1_000_000n, solRaw: 100_000n })
  assert.equal((await small.inspect()).trial, 'no_liquidity')
  const large = await SplWorld.open({ hasFreezeAuthority: false })
  await openCpmmPool(large, LIQUIDITY)
  large.node.falsify = (method, answer) => {
    if (method !== 'getMultipleAccounts') return answer
    const { value, ...rest } = answer as { value: ({ lamports: number } | null)[] }
    return {
      ...rest,
      value: value.map((each) => each && { ...each, lamports: Math.min(each.lamports, 1_000) }),
    }
  }
  assert.equal((await large.inspect()).trial, 'no_funds')
  large.node.falsify = (method, answer) => (method === 'simulateTransaction' ? {} : answer)
  assert.equal((await large.inspect()).trial, 'refused')
})
