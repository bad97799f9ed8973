import assert from 'node:assert/strict'
import test from 'node:test'
import { openBare } from '../fanout.bench.ts'
import { measure } from '../measure.ts'

const CONNECTIONS = 100
const TICK = { ticks: 10, eventsPerTick: 1 }

test('what the gateway is measured against is at least 1.5 times as fast as plain ws.send', async () => {
  const open = async () => {
    const frames = await openBare('frames', TICK, CONNECTIONS)
    const plain = await openBare('send', TICK, CONNECTIONS)
    return {
      subject: frames.slice,
      baseline: plain.slice,
      close: async () => {
        await frames.close()
        await plain.close()
      },
    }
  }
  const figure = {
    name: 'honest',
    bar: 1.5,
    goal: 1.5,
    direction: 'at least',
    per: 'cpu second',
    open,
  } as const
  // Short slices on a busy machine vary; what counts here is that all bytes came, and the median.
  const plan = { form: 'smoke', sliceMs: 200, warmUpPairs: 2, pairs: 7 } as const
  const { ratio, pass, reason } = await measure(figure, plan)
  assert.ok(pass, reason)
  assert.ok(ratio >= 1.5, `it is ${ratio.toFixed(2)} times as fast`)
})
