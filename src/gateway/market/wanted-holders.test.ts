import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createTestCommon } from '../../../test/support/rigs/test-common.ts'
import type { Token } from '../../domain/change.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import type { ChainAddress } from '../../domain/ids.ts'
import type { MarketReader } from './market-view.ts'
import { createWantedHolders } from './wanted-holders.ts'

const token = (at: number): ChainAddress => ({ chain: 'eth', address: `0x${at}` })
const MINUTE = 60_000

class Rig {
  readonly asked: string[] = []
  readonly common = createTestCommon()
  holders: number | undefined
  isKnown = true
  isAway = false
  time = 0
  readonly #wanted = createWantedHolders({
    view: {
      tokens: (async (refs: readonly ChainAddress[]) =>
        refs.map(() => ({
          record: this.isKnown ? ({ holding: { holders: this.holders } } as Token) : undefined,
        }))) as unknown as MarketReader['tokens'],
    },
    work: {
      put: async (name) => {
        if (this.isAway) throw new ChaintapeError('store_unavailable', 'NATS unavailable')
        this.asked.push(name)
        return true
      },
    },
    familyOf: (chain) => (chain === 'eth' ? 'evm' : 'solana'),
    logger: this.common.logger,
    now: () => this.time,
  })

  async ask(keyId: string, ...tokens: readonly ChainAddress[]): Promise<void> {
    this.#wanted.ask(tokens, keyId)
    for (let turn = 0; turn < 20; turn++) await setImmediate()
  }
}

describe('a request for holders', () => {
  test('is sent for a known token with unknown holders, of a chain with histories', async () => {
    const rig = new Rig()
    await rig.ask('ann', token(1), { chain: 'solana', address: 'So1' })
    rig.isKnown = false
    await rig.ask('ann', token(2))
    rig.isKnown = true
    rig.holders = 5
    await rig.ask('ann', token(3))
    assert.deepEqual(rig.asked, ['eth.holders.0x1'])
  })

  test('is not repeated within a minute by any key, and then is', async () => {
    const rig = new Rig()
    for (const key of ['ann', 'ben', 'ann']) await rig.ask(key, token(1))
    assert.equal(rig.asked.length, 1)
    rig.time += MINUTE
    await rig.ask('ben', token(1))
    assert.equal(rig.asked.length, 2)
  })

  test('that failed is repeated at once', async () => {
    const rig = new Rig()
    rig.isAway = true
    await rig.ask('ann', token(1))
    rig.isAway = false
    await rig.ask('ann', token(1))
    assert.deepEqual(rig.asked, ['eth.holders.0x1'])
    assert.equal(rig.common.lines.length, 1)
  })
})

describe('the budget of a key', () => {
  test('ends after thirty tokens, returns with the next hour, and is its own', async () => {
    const rig = new Rig()
    for (let at = 1; at <= 40; at++) await rig.ask('greedy', token(at))
    assert.equal(rig.asked.length, 30)
    await rig.ask('ann', token(40))
    assert.equal(rig.asked.at(-1), 'eth.holders.0x40')
    rig.time += 2 * MINUTE
    await rig.ask('greedy', token(1), token(39))
    assert.equal(rig.asked.at(-1), 'eth.holders.0x1', 'a token is paid for once an hour')
    assert.equal(rig.asked.includes('eth.holders.0x39'), false)
    rig.time += 60 * MINUTE
    await rig.ask('greedy', token(39))
    assert.equal(rig.asked.at(-1), 'eth.holders.0x39')
  })
})
