import assert from 'node:assert/strict'
import test from 'node:test'
import { originRule } from './origin.ts'

const host = 'data.example:8080'
const key = true

test('a client without an Origin is no browser and always connects', () => {
  assert.equal(originRule(['*'])({ host }, key), true)
  assert.equal(originRule([])({ host }, key), true)
  assert.equal(originRule(['https://a.example'])({ host }, !key), true)
})

test('a key added by a proxy is accepted from the own host and listed origins only', () => {
  const rule = originRule(['https://A.example'])
  const accepted = ['http://data.example:8080', 'https://a.example', 'HTTPS://a.EXAMPLE']
  const refused = [
    'https://evil.example',
    'http://data.example',
    'https://a.example.evil',
    'null',
    '',
    'a',
    '*',
  ]
  for (const origin of accepted) assert.equal(rule({ host, origin }, key), true, origin)
  for (const origin of refused) {
    assert.equal(rule({ host, origin }, key), false, origin)
    assert.equal(originRule(['*'])({ host, origin }, key), false, origin)
    assert.equal(originRule([])({ host, origin }, key), false, origin)
  }
  assert.equal(rule({ origin: 'http://data.example:8080' }, key), false)
})

test('a page with its own key connects from any origin, from listed origins, or not at all', () => {
  const evil = { host, origin: 'https://evil.example' }
  assert.equal(originRule(['*'])(evil, !key), true)
  assert.equal(originRule(['https://a.example'])(evil, !key), false)
  assert.equal(originRule(['https://a.example'])({ host, origin: 'https://a.example' }, !key), true)
  assert.equal(originRule([])(evil, !key), false)
  assert.equal(originRule([])({ host, origin: 'http://data.example:8080' }, !key), true)
})
