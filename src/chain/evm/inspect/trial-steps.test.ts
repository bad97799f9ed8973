import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { encodeAbiParameters, encodeErrorResult, type Hex, parseAbi, toHex } from 'viem'
import { ALL_OF_IT_PPM, MAX_FINDING_LENGTH } from '../../../domain/inspection.ts'
import type { CallOutcome } from '../rpc/state-rpc.ts'
import { readBuy, readSell, readTransfer, revertReason } from './trial-steps.ts'

const ABI = parseAbi([
  'error Error(string text)',
  'error Panic(uint256 code)',
  'error Underpaid(uint256 spent, uint256 arrived)',
  'error Empty()',
  'error Penniless()',
])
const words = (...values: bigint[]): Hex =>
  encodeAbiParameters(
    values.map(() => ({ type: 'uint256' })),
    values,
  )
const done = (data: Hex): CallOutcome => ({ ok: true, data, gasUsed: 50_000 })
const reverted = (data: Hex): CallOutcome => ({ ok: false, data, gasUsed: 30_000 })

test('the reason of a revert is short printable text', () => {
  const text = (words: string) => encodeErrorResult({ abi: ABI, errorName: 'Error', args: [words] })
  assert.equal(revertReason(text('TRANSFER_FAILED')), 'TRANSFER_FAILED')
  assert.equal(revertReason(text('\u202eev\u0000il\u200b')), 'evil')
  assert.equal(revertReason(text('x'.repeat(10_000))), 'x'.repeat(64))
  assert.equal(revertReason(text('')), 'reverted')
  assert.equal(revertReason(encodeErrorResult({ abi: ABI, errorName: 'Panic', args: [0x11n] })), 'panic 0x11')
  assert.equal(revertReason('0x12345678'), 'error 0x12345678')
  assert.equal(revertReason('0x'), 'reverted')
})

test('any revert data gives a short reason', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, isText) => {
      const data = toHex(bytes)
      const step = readSell(reverted(isText ? `0x08c379a0${data.slice(2)}` : data), 0n)
      assert.equal(step?.works, false)
      assert.ok(step?.reason !== undefined && step.reason.length <= MAX_FINDING_LENGTH)
    }),
  )
})

test('a purchase', () => {
  const bought = readBuy(done(words(1_000n, 970n, 50n, 0n)))
  assert.deepEqual(bought, {
    step: { works: true, taxPpm: 30_000, gas: 50_000, reason: undefined },
    ...{ givenRaw: 1_000n, receivedRaw: 970n, usedRaw: 50n },
  })
  assert.equal(readBuy(done(words(0n, 0n, 0n, 1n))), 'no_pair', 'the pool was at fault')
  const nothing = readBuy(done(words(1_000n, 0n, 50n, 0n)))
  assert.ok(typeof nothing === 'object')
  assert.deepEqual([nothing.step.works, nothing.step.taxPpm], [false, ALL_OF_IT_PPM])
  assert.equal(readBuy(reverted(encodeErrorResult({ abi: ABI, errorName: 'Empty' }))), 'no_liquidity')
  assert.equal(readBuy(reverted(encodeErrorResult({ abi: ABI, errorName: 'Penniless' }))), 'no_funds')
})

test('a transfer', () => {
  const moved = { heldRaw: 1_000n, leftRaw: 500n, friendBeforeRaw: 7n, friendAfterRaw: 502n }
  assert.deepEqual(readTransfer(done('0x'), moved), {
    works: true,
    taxPpm: 10_000,
    gas: 50_000,
    reason: undefined,
  })
  const nowhere = readTransfer(done('0x'), { ...moved, friendAfterRaw: 7n })
  assert.deepEqual([nowhere.works, nowhere.taxPpm, nowhere.reason], [false, ALL_OF_IT_PPM, 'nothing arrived'])
})

test('a recipient whose balance shrinks gets no tax', () => {
  const moved = { heldRaw: 1_000n, leftRaw: 500n, friendBeforeRaw: 2n ** 255n, friendAfterRaw: 500n }
  const { works, taxPpm, reason } = readTransfer(done('0x'), moved)
  assert.deepEqual([works, taxPpm, reason], [false, undefined, 'the balance of the recipient shrank'])
})

test('any balances around a transfer give a tax that can be encoded', () => {
  const word = fc.bigInt(0n, 2n ** 256n - 1n)
  fc.assert(
    fc.property(word, word, word, word, (heldRaw, leftRaw, friendBeforeRaw, friendAfterRaw) => {
      const { taxPpm } = readTransfer(done('0x'), { heldRaw, leftRaw, friendBeforeRaw, friendAfterRaw })
      assert.ok(taxPpm === undefined || (taxPpm >= 0 && taxPpm <= ALL_OF_IT_PPM), `${taxPpm}`)
    }),
  )
})

test('a reason of surrogate pairs is cut to the limit', () => {
  const bytes = Buffer.from(`a${'\u{1f4a3}'.repeat(200)}`)
  const reason = revertReason(
    encodeErrorResult({ abi: ABI, errorName: 'Error', args: [bytes.toString('utf8')] }),
  )
  assert.ok(reason.length <= MAX_FINDING_LENGTH && reason.isWellFormed())
  assert.match(reason, /^a(\u{1f4a3})+$/u)
})

test('a sale', () => {
  const sold = readSell(done(words(500n, 250n, 200n, 90n, 0n)), 500n)
  assert.deepEqual([sold?.works, sold?.taxPpm], [true, 200_000])
  assert.equal(readSell(done(words(200n, 100n, 100n, 90n)), 500n)?.works, false, 'most of it was gone before')
  const underpaid = encodeErrorResult({ abi: ABI, errorName: 'Underpaid', args: [100n, 93n] })
  assert.deepEqual(readSell(reverted(underpaid), 500n), {
    works: false,
    taxPpm: 70_000,
    gas: 30_000,
    reason: 'the pool received too little',
  })
})

test('a sale that the pool prevented is unknown', () => {
  assert.equal(readSell(done(words(500n, 0n, 0n, 0n, 1n)), 500n), undefined)
  const step = { works: true, taxPpm: 0, gas: 1, reason: undefined }
  const bought = { step, givenRaw: 1_000n, receivedRaw: 1_000n, usedRaw: 400n }
  // 250 of the 1,000 tokens that 400 bought are worth 100.
  assert.equal(readSell(done(words(500n, 250n, 250n, 9n, 0n)), 500n, bought), undefined)
  assert.equal(readSell(done(words(500n, 250n, 250n, 10n, 0n)), 500n, bought)?.works, true)
  assert.equal(readSell(done(words(500n, 250n, 250n, 9n, 0n)), 500n)?.works, true, 'without hooks')
})

test('the reason inside a wrapped error is the reason', () => {
  const wrapped = (reason: Hex) =>
    encodeErrorResult({
      abi: parseAbi(['error WrappedError(address target, bytes4 selector, bytes reason, bytes details)']),
      args: [`0x${'1'.repeat(40)}`, '0x12345678', reason, '0x'],
    })
  const inner = encodeErrorResult({ abi: ABI, errorName: 'Error', args: ['blacklisted'] })
  assert.equal(revertReason(wrapped(inner)), 'blacklisted')
  assert.equal(revertReason(wrapped(wrapped(inner))), 'error 0x90bfb865')
  assert.equal(revertReason(wrapped('0x')), 'reverted')
  assert.equal(revertReason(wrapped(inner).slice(0, -130) as Hex), 'error 0x90bfb865')
})
