import { setTimeout as sleep } from 'node:timers/promises'
import { AS_EXPECTED, type Attack, Tally, type Target } from './attack.ts'
import { converse } from './message-attacks.ts'
import { CHAIN } from './settings.ts'

const TALKERS = 5
const SHOWN = 80
/** Slowly enough not to be refused for that alone. */
const ASK_MS = 30

type Said = readonly (readonly [string | Buffer, string])[]
type Asked = { readonly path: string; readonly body?: string; readonly answers: string }

/** Both ways in, until the time is over; everything has one right answer. */
async function talk(target: Target, said: Said, asked: readonly Asked[]): Promise<Tally> {
  const judge = (expected: string, answer: string, what: string, tally: Tally): void => {
    tally.add(answer === expected ? AS_EXPECTED : `${what.slice(0, SHOWN)}: ${answer} instead of ${expected}`)
  }
  const tally = new Tally()
  const endsAt = performance.now() + target.seconds * 1_000
  const asking = (async () => {
    do {
      for (const { path, body, answers } of asked) {
        judge(answers, await ask(target, path, body), `${path} ${body ?? ''}`, tally)
        await sleep(ASK_MS)
      }
    } while (performance.now() < endsAt)
  })()
  const [outcome] = await Promise.all([converse(target, TALKERS, said, judge), asking])
  for (const [what, count] of Object.entries(outcome.counts))
    tally.counts[what] = (tally.counts[what] ?? 0) + count
  return tally
}

async function ask(target: Target, path: string, body: string | undefined): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${target.port}${path}`, {
    headers: { 'x-api-key': target.apiKey, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body }),
  })
  const { code } = (await response.json()) as { code?: string }
  return code === undefined ? `${response.status}` : `${response.status} ${code}`
}

const deep = (open: string, close: string, depth: number): string => open.repeat(depth) + close.repeat(depth)
const rpc = (params: string, id = '1', method = '"subscribe"'): string =>
  `{"jsonrpc":"2.0","id":${id},"method":${method},"params":${params}}`
const PRICE = '/v2/tokens/price'

const jsonBombs: Attack = {
  name: 'depth, giant numbers, twin members, lone surrogates',
  must: [AS_EXPECTED],
  run: (target) => {
    const pair = target.pairs[0] ?? ''
    const good = `["tx","${pair}","${CHAIN}"]`
    const said: Said = [
      [deep('[', ']', 32_000), 'error -32600'],
      ['['.repeat(60_000), 'error -32600'],
      ['{"a":'.repeat(10_000), 'error -32600'],
      [rpc(deep('[', ']', 30_000)), 'error -32600'],
      [rpc(`["tx",${deep('{"a":', '}', 9_000).replace('}', '1}')}]`), 'error -32600'],
      [rpc(good, '9'.repeat(60_000)), 'error -32600'],
      [rpc(good, '1e999'), 'error -32600'],
      [rpc(good, '-1e999'), 'error -32600'],
      [rpc(good, '9007199254740993'), 'error -32600'],
      [rpc(good, '1.5'), 'error -32600'],
      [rpc(good, '-0'), 'ok'],
      [`{"method":"nothing",${rpc(good).slice(1)}`, 'ok'],
      [rpc(good).replace('"tx"', '"tx","tx"'), 'error -32602'],
      [rpc('["tx","\\ud800","local"]'), 'error -32602'],
      [rpc(`["tx","${pair}","\\udfff"]`), 'error -32003'],
      [rpc(good, '1', '"\\ud83d"'), 'error -32601'],
      [Buffer.from([...Buffer.from('{"method":"'), 0xed, 0xa0, 0x80, ...Buffer.from('"}')]), 'closed 1007'],
      ['\u0000', 'error -32700'],
    ]
    const ids = `["${pair}-${CHAIN}"]`
    const asked: Asked[] = [
      { path: PRICE, body: '['.repeat(32_000), answers: '400 malformed_request' },
      { path: PRICE, body: deep('[', ']', 16_000), answers: '400 malformed_request' },
      { path: PRICE, body: `{"token_ids":${deep('[', ']', 15_000)}}`, answers: '400 malformed_request' },
      { path: PRICE, body: `{"token_ids":${ids},"tvl_min":1e999}`, answers: '400 malformed_request' },
      {
        path: PRICE,
        body: `{"token_ids":${ids},"tvl_min":${'9'.repeat(30_000)}}`,
        answers: '400 malformed_request',
      },
      { path: PRICE, body: `{"token_ids":7,"token_ids":${ids}}`, answers: '200' },
      { path: PRICE, body: '{"token_ids":["\\ud800-local"]}', answers: '400 malformed_id' },
      { path: `/v2/tokens/%ED%A0%80-${CHAIN}`, answers: '400 malformed_request' },
      {
        path: `/v2/klines/pair/${pair}-${CHAIN}?limit=${'9'.repeat(4_000)}`,
        answers: '400 malformed_request',
      },
      { path: `/v2/klines/pair/${pair}-${CHAIN}?limit=1e999`, answers: '400 malformed_request' },
    ]
    return talk(target, said, asked)
  },
}

const prototypeNames: Attack = {
  name: '__proto__ and constructor as names',
  must: [AS_EXPECTED],
  run: (target) => {
    const pair = target.pairs[0] ?? ''
    const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']
    const said: Said = names.flatMap((name) => [
      [rpc(`["tx","${pair}","${name}"]`), 'error -32003'] as const,
      [rpc(`["tx","${name}","${CHAIN}"]`), 'error -32602'] as const,
      [rpc(`["${name}","${pair}","${CHAIN}"]`), 'error -32602'] as const,
      [rpc(`["kline","${pair}","${name}","${CHAIN}"]`), 'error -32602'] as const,
      [rpc(`["price",["${pair}-${name}"]]`), 'error -32003'] as const,
      [rpc(`["tx","${pair}","${CHAIN}",{"${name}":true}]`), 'error -32602'] as const,
      [rpc(`["tx","${pair}","${CHAIN}"]`, `"${name}"`), 'error -32600'] as const,
      [rpc('[]', '1', `"${name}"`), 'error -32601'] as const,
      [`{"${name}":{"method":"ping"},"jsonrpc":"2.0"}`, 'error -32600'] as const,
      ['{"method":"ping"}', 'ok'] as const,
    ])
    const asked = names.flatMap((name): Asked[] => {
      // Some do not even look like the name of a chain.
      const unknown = /^[a-z]+$/.test(name) ? '400 unknown_chain' : '400 malformed_id'
      return [
        {
          path: `/v2/pairs/${pair}-${name}`,
          answers: unknown,
        },
        { path: `/v2/pairs/${name}-${CHAIN}`, answers: '400 malformed_id' },
        { path: `/v2/tokens/main?chain=${name}`, answers: '400 unknown_chain' },
        { path: `/v2/tokens/main?chain=${CHAIN}&${name}=1`, answers: '400 malformed_request' },
        {
          path: PRICE,
          body: `{"token_ids":["${pair}-${CHAIN}"],"${name}":{"a":1}}`,
          answers: '400 malformed_request',
        },
        // An id of a chain that is not served is left out of a batch.
        {
          path: PRICE,
          body: `{"token_ids":["${pair}-${name}"]}`,
          answers: unknown === '400 unknown_chain' ? '200' : unknown,
        },
      ]
    })
    return talk(target, said, asked)
  },
}

export const CONTENT_ATTACKS = [jsonBombs, prototypeNames]
