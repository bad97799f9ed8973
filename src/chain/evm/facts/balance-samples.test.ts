import assert from 'node:assert/strict'
import { test } from 'node:test'
import { words } from '../../../../test/support/builders/abi-words.ts'
import { TRANSFER } from '../../../dex/evm/token-moves.ts'
import type { Asker } from '../../facts/asker.ts'
import { BalanceSamples } from './balance-samples.ts'

const address = (at: number): string => `0x${at.toString(16).padStart(40, '0')}`
const [BUSY, GIVER, RECEIVER] = [address(0xa), address(0xb), address(0xc)]
const BLOCKS = 4_096

function rig() {
  const ask: Asker['ask'] = async (calls) => calls.map(() => Buffer.alloc(32, 1))
  const samples = new BalanceSamples(() => false)
  const sample = async (number: number, head: number, token = BUSY) => {
    const log = {
      index: 0,
      address: token,
      topics: [TRANSFER, words(GIVER), words(RECEIVER)],
      data: Buffer.alloc(32, 1),
    }
    const block = { number, hash: `0x${number.toString(16).padStart(64, '0')}` }
    const transaction = { index: 0, hash: '0x', from: GIVER, logs: [log] }
    const facts = await samples.ask({ ask, askExactly: ask }, [transaction], block, head)
    samples.learn(facts)
    return facts
  }
  return sample
}

async function sampled(depth: number) {
  const sample = rig()
  const holders: string[] = []
  for (let number = 0; number < BLOCKS; number++)
    for (const { holder } of await sample(number, number + depth)) holders.push(holder)
  return holders
}

test('near the head, one block in four samples a token, givers and receivers alike', async () => {
  const holders = await sampled(0)
  assert.equal(holders.length, BLOCKS / 4)
  assert.equal(holders.filter((holder) => holder === GIVER).length, BLOCKS / 8)
})

test('in settled blocks a busy token is sampled less, still givers and receivers alike', async () => {
  const holders = await sampled(64)
  // The first sixteen, and one block of 32 from there on.
  assert.ok(Math.abs(holders.length - BLOCKS / 32 - 14) < 4, `${holders.length}`)
  const given = holders.filter((holder) => holder === GIVER).length
  assert.ok(Math.abs(given - holders.length / 2) < 4, `${given}`)
})

test('a token that is new to the sampling is sampled as often as any, however busy others are', async () => {
  const sample = rig()
  for (let number = 0; number < 1_024; number++) await sample(number, 10_000)
  let found = 0
  for (let number = 1_024; number < 1_024 + 64; number++)
    found += (await sample(number, 10_000, address(0xd))).length
  assert.equal(found, 16)
})
