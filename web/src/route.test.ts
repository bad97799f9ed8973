import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hrefOf, parseRoute, type Route } from './route.ts'

test('every route survives its URL', () => {
  const routes: Route[] = [
    { page: 'market', chain: '', list: 'trending', query: '' },
    { page: 'market', chain: 'local', list: 'fourmeme_in_new', query: 'a & b=c' },
    { page: 'token', token: '0xaa-eth', pair: '', interval: 'k15', panel: 'holders' },
    { page: 'token', token: '0xaa-eth', pair: '0xbb-eth', interval: 's1', panel: 'risk' },
    { page: 'chains' },
  ]
  for (const route of routes) assert.deepEqual(parseRoute(hrefOf(route)), route)
  assert.equal(hrefOf(routes[0] as Route), '?')
  assert.equal(hrefOf(routes[2] as Route), '?token=0xaa-eth')
})

test('a URL that makes no sense shows something that does', () => {
  assert.deepEqual(parseRoute('?nothing=1'), { page: 'market', chain: '', list: 'trending', query: '' })
  assert.deepEqual(parseRoute('?token=x&interval=k7&panel=<script>'), {
    ...{ page: 'token', token: 'x', pair: '', interval: 'k15', panel: 'holders' },
  })
})
