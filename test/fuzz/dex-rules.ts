import assert from 'node:assert/strict'
import type { DexEvent, PoolPrice, TokenAmount, TokenEvent, TokenRef } from '../../src/dex/events.ts'
import type { FoundPool } from '../../src/dex/protocol.ts'
import type { Pricing } from '../../src/domain/envelope.ts'

/** Invariants of events (src/dex/events.ts) that the engine relies on. */

/** An EVM address, or one of Solana: base58 has no zero. */
const ADDRESS = /^(0x[0-9a-f]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/
const POOL = /^(0x([0-9a-f]{40}|[0-9a-f]{64})|[1-9A-HJ-NP-Za-km-z]{32,44})$/
const MAX_TICK = 887_272
const MAX_BIN = 0xff_ffff
const MAX_TOKENS = 64

export function checkEvent(event: DexEvent): void {
  assert.match(event.pool, POOL)
  switch (event.type) {
    case 'poolCreated':
      checkTokens(event.tokens)
      checkPricing(event.pricing)
      if (event.price !== undefined) checkPrice(event.price)
      if (event.goalRaw !== undefined) assert.ok(event.goalRaw > 0n)
      break
    case 'priceSet':
      checkPrice(event.price)
      break
    case 'reservesSet':
      checkAmount(event.reserve0)
      checkAmount(event.reserve1)
      break
    case 'swapped':
      checkOptionalAddress(event.sender)
      checkOptionalAddress(event.recipient)
      checkRef(event.token0)
      checkRef(event.token1)
      assert.equal(typeof event.delta0, 'bigint')
      assert.equal(typeof event.delta1, 'bigint')
      if (event.price !== undefined) checkPrice(event.price)
      if (event.feePpm !== undefined) checkInteger(event.feePpm, 0, 1_000_000)
      for (const reserve of event.reserves ?? []) checkAmount(reserve)
      break
    case 'liquidityMoved':
      checkOptionalAddress(event.provider)
      checkInteger(event.tickLower, -MAX_TICK, MAX_TICK)
      checkInteger(event.tickUpper, event.tickLower + 1, MAX_TICK)
      assert.equal(BigInt.asIntN(128, event.liquidityDelta), event.liquidityDelta)
      break
    case 'liquidityAdded':
    case 'liquidityRemoved':
    case 'feesCollected':
      checkOptionalAddress(event.provider)
      checkAmounts(event.amounts)
      if ('reserves' in event) for (const reserve of event.reserves ?? []) checkAmount(reserve)
      break
    case 'donated':
      checkAmounts(event.amounts)
      break
    case 'curveOpened':
    case 'curveClosed':
      break
    case 'curveProgressed':
      checkInteger(event.progressPpm, 0, 1_000_000)
      break
    default:
      assert.fail(`unknown event ${JSON.stringify(event satisfies never)}`)
  }
}

export function checkTokenEvent(event: TokenEvent): void {
  assert.match(event.token, ADDRESS)
  if (event.type !== 'tokenGraduated' || event.successor === undefined) return
  assert.match(event.successor, ADDRESS)
  assert.notEqual(event.successor, event.token)
}

export function checkFound({ factory, tokens, pricing, reservesBefore, goalRaw }: FoundPool): void {
  assert.match(factory, ADDRESS)
  if (goalRaw !== undefined) assert.ok(goalRaw > 0n)
  checkTokens(tokens)
  checkPricing(pricing)
  if (reservesBefore === undefined) return
  assert.equal(reservesBefore.length, tokens.length)
  for (const reserve of reservesBefore) checkAmount(reserve)
}

function checkTokens(tokens: readonly string[]): void {
  checkInteger(tokens.length, 2, MAX_TOKENS)
  for (const token of tokens) assert.match(token, ADDRESS)
}

function checkPricing(pricing: Pricing): void {
  assert.ok(['reserves', 'sqrtPrice', 'bins', 'trades'].includes(pricing.kind))
  if (pricing.kind === 'bins') checkInteger(pricing.binStep, 1, 0xffff)
}

function checkPrice(price: PoolPrice): void {
  if (price.kind === 'bin') {
    checkInteger(price.id, 0, MAX_BIN)
    return
  }
  assert.equal(price.kind, 'sqrt')
  assert.ok(price.sqrtPriceX96 > 0n && price.sqrtPriceX96 < 1n << 160n)
  checkInteger(price.tick, -MAX_TICK, MAX_TICK)
}

function checkAmounts(amounts: readonly TokenAmount[]): void {
  assert.ok(amounts.length <= MAX_TOKENS)
  for (const { token, amount } of amounts) {
    checkRef(token)
    checkAmount(amount)
  }
}

function checkAmount(amount: bigint): void {
  assert.equal(typeof amount, 'bigint')
  assert.ok(amount >= 0n)
}

function checkRef(token: TokenRef): void {
  if (typeof token === 'number') checkInteger(token, 0, 2 ** 32)
  else assert.match(token, ADDRESS)
}

function checkOptionalAddress(address: string | undefined): void {
  if (address !== undefined) assert.match(address, ADDRESS)
}

function checkInteger(value: number, least: number, most: number): void {
  assert.ok(Number.isInteger(value) && value >= least && value <= most, `${value}`)
}
