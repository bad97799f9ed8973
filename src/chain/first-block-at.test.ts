import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ChaintapeError } from '../domain/errors.ts'
import { firstBlockAt } from './first-block-at.ts'
import type { Header } from './source.ts'

/** A chain whose blocks have these times. */
function chainOf(times: readonly number[]) {
  const headers = times.map((time, number): Header => ({ number, hash: `${number}`, parentHash: '', time }))
  const asked: number[] = []
  return {
    asked,
    head: async () => headers.at(-1) as Header,
    headerAt: async (number: number) => {
      asked.push(number)
      return headers[number]
    },
  }
}

describe('the first block at or after a time', () => {
  test('is the one a look at every block would find, also where several blocks have the same time', async () => {
    const times = fc.array(fc.nat(5), { minLength: 1, maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(times, fc.nat(310), async (steps, time) => {
        let now = 0
        const all = steps.map((step) => {
          now += step
          return now
        })
        const expected = all.findIndex((at) => at >= time)
        assert.equal(await firstBlockAt(chainOf(all), time), expected === -1 ? undefined : expected)
      }),
    )
  })

  test('takes few questions', async () => {
    const chain = chainOf(Array.from({ length: 1_000_000 }, (_, number) => 12 * number))
    assert.equal(await firstBlockAt(chain, 12 * 345_678 - 5), 345_678)
    assert.ok(chain.asked.length <= 20, `${chain.asked.length} questions`)
  })

  test('is not guessed where no node has an old block', async () => {
    const chain = { ...chainOf([1, 2, 3, 4]), headerAt: async () => undefined }
    await assert.rejects(firstBlockAt(chain, 2), (error: unknown) => {
      return error instanceof ChaintapeError && error.code === 'node_unavailable'
    })
  })
})
