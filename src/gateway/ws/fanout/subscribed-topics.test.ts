import assert from 'node:assert/strict'
import test from 'node:test'
import { klineKey, pairPriceKey, txKey } from '../topic.ts'
import { SubscribedTopics } from './subscribed-topics.ts'

test('an address is heard as long as one key of its kind is about it, on whichever chain', () => {
  const [eth, bsc] = ['eth', 'bsc'].map((chain) => ({ chain, address: '0xa' }))
  assert.ok(eth && bsc)
  const keys = [klineKey(eth, 'k1'), klineKey(eth, 'k5'), klineKey(bsc, 'k1'), pairPriceKey(eth)]
  const heard = new SubscribedTopics(keys)
  assert.deepEqual(
    [heard.has('kline', '0xa'), heard.has('price', '0xa'), heard.has('tx', '0xa')],
    [true, true, false],
  )
  heard.remove(txKey(eth))
  for (const key of keys) {
    assert.equal(heard.has('kline', '0xa'), key !== keys[3])
    heard.remove(key)
  }
  assert.equal(heard.has('price', '0xa'), false)
})
