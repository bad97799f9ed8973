import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  inspection as anyInspection,
  report as anyReport,
} from '../../test/support/arbitraries/contract-arbitraries.ts'
import type { ContractHoldings } from './contract-report.ts'
import {
  type ContractFlag,
  findingsBy,
  type Inspection,
  type TradeTrial,
  type TrialStep,
} from './inspection.ts'
import { HOLDERS_RISK_VERSION, isHoneypot, MINT_RISK_VERSION, RISK_VERSION, scoreOf } from './risk-score.ts'

const OWNER = `0x${'1'.repeat(40)}`
const ZERO = `0x${'0'.repeat(40)}`
const works: TrialStep = { works: true, taxPpm: 0, gas: 100_000, reason: undefined }
const fails: TrialStep = { works: false, taxPpm: undefined, gas: undefined, reason: 'not allowed' }
const trial: TradeTrial = {
  pair: `0x${'2'.repeat(40)}`,
  method: 'simulate',
  buy: works,
  transfer: works,
  sell: works,
}
const unknown: ContractHoldings = {
  hasUnreliableBalances: false,
  creatorPpm: undefined,
  ownerPpm: undefined,
  lockedPpm: undefined,
  largePpm: undefined,
  pool: undefined,
}

function inspected(changes: Partial<Inspection> = {}, flags: readonly ContractFlag[] = []): Inspection {
  return {
    token: `0x${'3'.repeat(40)}`,
    block: { number: 7, hash: `0x${'4'.repeat(64)}` },
    codeHash: `0x${'5'.repeat(64)}`,
    creator: undefined,
    owner: OWNER,
    proxy: undefined,
    findings: findingsBy((flag) => (flags.includes(flag) ? [`${flag}()`] : [])),
    trial,
    ...changes,
  }
}

const pointsOf = (inspection: Inspection, holdings: ContractHoldings = unknown) =>
  Object.fromEntries(scoreOf(inspection, holdings).factors.map(({ code, points }) => [code, points]))

describe('the examples of docs/risk.md', () => {
  test('a plain token with burned liquidity has no points', () => {
    const pool = { pair: trial.pair, holders: 2, issuedRaw: 9n, lockedPpm: 1_000_000 }
    assert.deepEqual(scoreOf(inspected(), { ...unknown, creatorPpm: 10_000, pool }), {
      version: RISK_VERSION,
      points: 0,
      factors: [],
    })
  })

  test('a transfer fee is a tax on every step, and mutable metadata costs five points', () => {
    const mint = inspected({
      ...{ trial: 'no_pair', owner: undefined, transferFee: { ppm: 30_001, maxRaw: 5n } },
      metadataPowers: ['metadata update authority x'],
    })
    const taxes = { buy_tax: 4, sell_tax: 4, transfer_tax: 4 }
    assert.deepEqual(pointsOf(mint), { trade_not_tried: 10, ...taxes, mutable_metadata: 5 })
    assert.equal(scoreOf(mint, unknown).version, MINT_RISK_VERSION)
    const fixed = inspected({ trial: 'no_pair', metadataPowers: [], transferFee: { ppm: 0, maxRaw: 0n } })
    assert.deepEqual(pointsOf(fixed), { trade_not_tried: 10 })
    assert.equal(scoreOf(inspected({ trial: 'no_pair' }), unknown).version, RISK_VERSION)
  })

  test('holders who cannot transfer cost points; if most cannot, a token that can be bought is a honeypot', () => {
    const stuck = (failed: number, changes: Partial<Inspection> = {}) => {
      const failure = { account: 'account', reason: 'Account is frozen' }
      return inspected({ holderTransfers: { tried: 4, failed, failure }, ...changes })
    }
    assert.deepEqual(pointsOf(stuck(0)), {})
    assert.deepEqual(pointsOf(stuck(2)), { cannot_be_transferred: 15 })
    assert.deepEqual(pointsOf(stuck(3, { trial: 'no_pair' })), {
      trade_not_tried: 10,
      cannot_be_transferred: 40,
    })
    assert.deepEqual(pointsOf(stuck(3)), { honeypot: 100, cannot_be_transferred: 40 })
    assert.deepEqual(
      [0, 2, 3].map((failed) => isHoneypot(stuck(failed))),
      [false, false, true],
    )
    assert.equal(isHoneypot(stuck(4, { trial: 'no_pair' })), undefined)
    const both = stuck(4, { trial: { ...trial, buy: fails, transfer: fails, sell: undefined } })
    assert.deepEqual(pointsOf(both), { cannot_be_bought: 40, cannot_be_transferred: 40 })
    assert.equal(scoreOf(stuck(0), unknown).version, HOLDERS_RISK_VERSION)
    assert.equal(scoreOf(stuck(1), unknown).factors[0]?.evidence.at(-1), 'Account is frozen')
  })

  test('a token that cannot be sold has the maximum', () => {
    const honeypot = inspected({ trial: { ...trial, sell: fails } })
    assert.equal(isHoneypot(honeypot), true)
    assert.equal(scoreOf(honeypot, unknown).points, 100)
    assert.deepEqual(scoreOf(honeypot, unknown).factors[0]?.evidence.at(-1), 'not allowed')
  })

  test('a sale that returns less than a tenth counts as failed', () => {
    const sale = (taxPpm: number) => inspected({ trial: { ...trial, sell: { ...works, taxPpm } } })
    assert.equal(isHoneypot(sale(900_000)), false)
    assert.equal(isHoneypot(sale(900_001)), true)
  })

  test('a tax costs one point per started percent, up to fifty', () => {
    const taxed = inspected({
      trial: { ...trial, buy: { ...works, taxPpm: 30_001 }, sell: { ...works, taxPpm: 600_000 } },
    })
    assert.deepEqual(pointsOf(taxed), { buy_tax: 4, sell_tax: 50 })
    assert.deepEqual(pointsOf(inspected({ trial: { ...trial, buy: { ...works, taxPpm: 999 } } })), {})
  })

  test('powers count half once renounced, unless ownership can be taken back or the code is upgradeable', () => {
    assert.deepEqual(pointsOf(inspected({}, ['mint', 'pause'])), { mint: 20, pause: 15 })
    assert.deepEqual(pointsOf(inspected({ owner: ZERO }, ['mint', 'pause'])), { mint: 10, pause: 7 })
    assert.deepEqual(pointsOf(inspected({ owner: ZERO }, ['mint', 'takeBackOwnership'])), {
      mint: 20,
      take_back_ownership: 30,
    })
    const proxy = {
      kind: 'eip1967',
      implementation: OWNER,
      implementationCodeHash: undefined,
      admin: undefined,
    } as const
    assert.deepEqual(pointsOf(inspected({ owner: ZERO, proxy }, ['mint'])), { mint: 20, proxy: 15 })
    const minimal = { ...proxy, kind: 'eip1167' } as const
    assert.deepEqual(pointsOf(inspected({ proxy: minimal })), {})
    assert.deepEqual(pointsOf(inspected({ owner: ZERO, proxy: minimal }, ['mint'])), { mint: 10 })
  })

  test('points for concentrated holdings', () => {
    const pool = { pair: trial.pair, holders: 2, issuedRaw: 9n, lockedPpm: 100_000 }
    const held = { ...unknown, creatorPpm: 200_000, ownerPpm: 50_000, largePpm: 500_000, pool }
    assert.deepEqual(pointsOf(inspected(), held), {
      creator_share: 20,
      owner_share: 10,
      large_holders: 15,
      liquidity_not_locked: 15,
    })
    assert.deepEqual(pointsOf(inspected(), { ...unknown, creatorPpm: 60_000, ownerPpm: 60_000 }), {
      creator_share: 10,
    })
    assert.deepEqual(pointsOf(inspected(), { ...unknown, hasUnreliableBalances: true }), { odd_balances: 15 })
  })

  test('a token without a simulated trade has a factor of its own and no honeypot verdict', () => {
    const untried = inspected({ trial: 'no_liquidity' })
    assert.equal(isHoneypot(untried), undefined)
    assert.deepEqual(pointsOf(untried), { trade_not_tried: 10 })
    const unbought = inspected({ trial: { ...trial, buy: fails, transfer: undefined, sell: undefined } })
    assert.equal(isHoneypot(unbought), undefined)
    assert.deepEqual(pointsOf(unbought), { cannot_be_bought: 40 })
  })
})

test('the points are the sum of the factors, and every factor has points', () => {
  fc.assert(
    fc.property(anyInspection, anyReport, (inspection, { holdings }) => {
      const { points, factors } = scoreOf(inspection, holdings)
      const total = factors.reduce((sum, factor) => sum + factor.points, 0)
      assert.equal(points, Math.min(100, total))
      for (const factor of factors) assert.ok(Number.isInteger(factor.points) && factor.points > 0)
      assert.equal(new Set(factors.map(({ code }) => code)).size, factors.length)
    }),
  )
})
