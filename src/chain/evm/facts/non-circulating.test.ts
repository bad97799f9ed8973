import assert from 'node:assert/strict'
import { test } from 'node:test'
import { words } from '../../../../test/support/builders/abi-words.ts'
import { DEAD_ADDRESSES, ZERO_ADDRESS } from '../../../domain/known-addresses.ts'
import { NonCirculatingBalances } from './non-circulating.ts'

const address = (at: number): string => `0x${at.toString(16).padStart(40, '0')}`
const LOCKER = address(0x10c4)
const [A, B] = [address(0xa), address(0xb)]

type Question = { readonly to: string; readonly holder: string }

/** Responds as configured, and records the addresses it was asked about. */
function rig(answer: (question: Question, time: number) => bigint | undefined, depth = 0) {
  const asked: string[][] = []
  let time = 0
  const askExactly = async (calls: readonly { to: string; data: string }[]) => {
    asked.push([...new Set(calls.map(({ to }) => to))])
    time++
    return calls.map(({ to, data }) => {
      const amount = answer({ to, holder: `0x${data.slice(-40)}` }, time)
      return amount === undefined ? undefined : Buffer.from(words(amount).slice(2), 'hex')
    })
  }
  const balances = new NonCirculatingBalances([LOCKER])
  const ask = async (number: number, met: readonly string[], late: readonly string[] = []) => {
    const block = { number, hash: `0x${'1'.repeat(64)}`, parentHash: '', time: number }
    const answers = await balances.ask({ askExactly }, met, late, block, number + depth)
    balances.learn(answers, block)
    return answers.facts.filter((fact) => fact !== undefined)
  }
  return { asked, ask }
}

test('every burn address and locker is asked about, twice', async () => {
  const { asked, ask } = rig(({ holder }) => (holder === LOCKER ? 7n : 1n))
  const [fact] = await ask(1, [A])
  const holders = [ZERO_ADDRESS, ...DEAD_ADDRESSES, LOCKER]
  assert.deepEqual(fact, {
    type: 'nonCirculating',
    address: A,
    balances: holders.map((holder) => ({ holder, amountRaw: holder === LOCKER ? 7n : 1n })),
  })
  assert.deepEqual(asked, [[A], [A]])
})

test('once is enough for a block far below the head', async () => {
  for (const [depth, times] of [
    [63, 2],
    [64, 1],
  ] as const) {
    const { asked, ask } = rig(() => 5n, depth)
    assert.equal((await ask(1, [A])).length, 1)
    assert.equal(asked.length, times)
  }
})

test('answers that differ are none; a zero address that is not answered for holds nothing', async () => {
  const changing = rig(({ to }, time) => (to === A ? BigInt(time) : 5n))
  assert.deepEqual(
    (await changing.ask(1, [A, B])).map((fact) => fact.address),
    [B],
  )
  const silent = rig(({ holder }) => (holder === ZERO_ADDRESS ? undefined : 5n))
  const [fact] = await silent.ask(1, [A])
  assert.equal(fact?.balances.find(({ holder }) => holder === ZERO_ADDRESS)?.amountRaw, 0n)
})

test('tokens that could not be asked when they were new are asked later, some at a time', async () => {
  const late = Array.from({ length: 20 }, (_, at) => address(0x100 + at))
  const { ask } = rig(() => 0n)
  assert.equal((await ask(1, [A], late)).length, 9)
})

test('a token that does not answer while others do is asked once', async () => {
  const { asked, ask } = rig(({ to }) => (to === A ? undefined : 0n))
  await ask(1, [], [A, B])
  asked.length = 0
  await ask(2, [], [A, B])
  assert.deepEqual(asked, [[B], [B]])
})

test('where no state is left, late tokens wait for 64 blocks; new ones do not', async () => {
  let isPruned = true
  const { asked, ask } = rig(() => (isPruned ? undefined : 3n))
  assert.deepEqual(await ask(100, [A], []), [])
  isPruned = false
  assert.deepEqual(await ask(101, [], [A]), [])
  assert.equal((await ask(102, [B], [A])).length, 1)
  assert.equal((await ask(164, [], [A])).length, 1)
  assert.equal(asked.at(-1)?.[0], A)
})
