import assert from 'node:assert/strict'
import test from 'node:test'
import { originRule } from './origin.ts'

const host = 'data.example:8080'
const key = true

test('without an origin there is no browser to protect', () => {
  assert.equal(originRule([])({ host }, key), true)
  assert.equal(originRule(['https://a.example'])({ host }, !key), true)
})

test('a key that a page cannot have sent itself is taken from our own host and named sites only', () => {
  const rule = originRule(['https://A.example'])
  const taken = ['http://data.example:8080', 'https://a.example', 'HTTPS://a.EXAMPLE']
  const refused = ['https://evil.example', 'http://data.example', 'https://a.example.evil', 'null', '', 'a']
  for (const origin of taken) assert.equal(rule({ host, origin }, key), true, origin)
  for (const origin of refused) {
    assert.equal(rule({ host, origin }, key), false, origin)
    assert.equal(originRule([])({ host, origin }, key), false, origin)
  }
  assert.equal(rule({ origin: 'http://data.example:8080' }, key), false)
})

test('a page that shows its own key is welcome from everywhere, unless sites are named', () => {
  assert.equal(originRule([])({ host, origin: 'https://evil.example' }, !key), true)
  assert.equal(originRule(['https://a.example'])({ host, origin: 'https://evil.example' }, !key), false)
  assert.equal(originRule(['https://a.example'])({ host, origin: 'https://a.example' }, !key), true)
})
