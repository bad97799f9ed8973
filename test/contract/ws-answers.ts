import type { Form, Names } from './ws-form.ts'

/**
 * Every answer of the interface document's WebSocket part, and of what was decided where it is silent. It is
 * written by hand from these two, so that it can disagree with the code.
 */

const cursorAt = (epoch: string, seq: number, version = 1) =>
  `c1.${Buffer.from(JSON.stringify([['local', epoch, seq, 1, version, 1, 0]])).toString('base64url')}`
const NOBODY = `0x${'b'.repeat(40)}`
const request = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 7, method, params })
const failure = (code: number, data?: Form, id: Form = '7'): Form => ({
  ...{
    jsonrpc: '"2.0"',
    id,
    error: { code: String(code), message: 'string!', ...(data === undefined ? {} : { data }) },
  },
})
const ok = (action: string, params: Form, more: Record<string, Form> = {}): Form => ({
  ...{
    jsonrpc: '"2.0"',
    id: '7',
    result: { status: '"ok"', action: JSON.stringify(action), params, ...more },
  },
})

/** What is sent (an object, or the very text), and the form of what comes back. */
export const ANSWERS: readonly (readonly [string, (names: Names) => unknown, Form])[] = [
  ['ping by hand', () => ({ method: 'ping' }), { jsonrpc: '"2.0"', id: 'null', result: '"pong"' }],
  ['ping', () => request('ping', []), { jsonrpc: '"2.0"', id: '7', result: '"pong"' }],
  ['subscribe', ({ pair }) => request('subscribe', ['liq', pair, 'local']), ok('subscribe', ['string!'])],
  [
    'the same twice',
    ({ pair }) => [
      request('subscribe', ['liq', pair, 'local']),
      request('subscribe', ['liq', pair, 'local']),
    ],
    [ok('subscribe', ['string!'])],
  ],
  [
    'unsubscribe',
    ({ pair }) => request('unsubscribe', ['liq', pair, 'local']),
    ok('unsubscribe', ['string!']),
  ],
  [
    'a good item and a bad one',
    ({ stablePair }) =>
      request('subscribe', ['multi_kline', [stablePair, 's1', 'local'], [NOBODY, 's1', 'local']]),
    {
      ...{ jsonrpc: '"2.0"', id: '7' },
      result: {
        status: '"ok"',
        action: '"subscribe"',
        params: 'anything',
        rejected: [{ item: JSON.stringify(`${NOBODY}-local`), reason: '"unknown_pair"' }],
      },
    },
  ],
  [
    'with a cursor',
    ({ pair }) => request('subscribe', ['liq', pair, 'local', { cursor: true }]),
    {
      jsonrpc: '"2.0"',
      id: '7',
      result: { status: '"ok"', action: '"subscribe"', params: 'anything', cursor: 'string!' },
    },
  ],
  [
    'a cursor of a log that is gone',
    ({ pair }) =>
      request('subscribe', [
        'liq',
        pair,
        'local',
        { from: `c1.${Buffer.from('[["local","gone",1,1,1,1,0]]').toString('base64url')}` },
      ]),
    {
      ...{ jsonrpc: '"2.0"', id: '7' },
      result: {
        status: '"ok"',
        action: '"subscribe"',
        params: 'anything',
        cursor: 'string!',
        recovered: 'false',
        reason: { code: '-32005', message: 'string!' },
      },
    },
  ],
  ['not JSON', () => '{', failure(-32_700, undefined, 'null')],
  ['not a request', () => '5', failure(-32_600, undefined, 'null')],
  ['no method', () => ({ jsonrpc: '2.0', id: 7 }), failure(-32_600, { pointer: '"/method"' })],
  ['an unknown method', () => request('publish', []), failure(-32_601, { pointer: '"/method"' })],
  ['an unknown topic', () => request('subscribe', ['trades']), failure(-32_602, { pointer: '"/params/0"' })],
  [
    'an unknown interval',
    ({ pair }) => request('subscribe', ['kline', pair, 'k2', 'local']),
    failure(-32_602, { pointer: '"/params/2"' }),
  ],
  [
    'an unknown option',
    ({ pair }) => request('subscribe', ['tx', pair, 'local', { since: 1 }]),
    failure(-32_602, { pointer: '"/params/3"' }),
  ],
  [
    'a cursor that is none',
    ({ pair }) => request('subscribe', ['tx', pair, 'local', { from: 'x' }]),
    failure(-32_602, { option: '"from"' }),
  ],
  [
    'a cursor of a position that is not there yet',
    ({ pair, epoch }) =>
      request('subscribe', ['tx', pair, 'local', { from: cursorAt(epoch, 1_000_000_000) }]),
    failure(-32_602, { option: '"from"' }),
  ],
  [
    'a cursor of no version',
    ({ pair, epoch }) => request('subscribe', ['tx', pair, 'local', { from: cursorAt(epoch, 1, 0) }]),
    failure(-32_602, { option: '"from"' }),
  ],
  [
    'too many prices',
    ({ pair }) => request('subscribe', ['price', Array(201).fill(`${pair}-local`)]),
    failure(-32_002, { limit: '"price_ids"', max: '200' }),
  ],
  [
    'too many candles',
    ({ pair }) => request('subscribe', ['multi_kline', ...Array(101).fill([pair, 'k1', 'local'])]),
    failure(-32_002, { limit: '"multi_kline_pairs"', max: '100' }),
  ],
  [
    'a batch too long',
    () => Array(21).fill({ method: 'ping' }),
    failure(-32_002, { limit: '"batch"', max: '20' }, 'null'),
  ],
  ...(
    [
      ['an unknown pair', ['tx', NOBODY, 'local'], 'unknown_pair', `${NOBODY}-local`],
      ['an unknown token', ['multi_tx', NOBODY, 'local'], 'unknown_token', `${NOBODY}-local`],
      ['an unknown chain', ['liq', NOBODY, 'nowhere'], 'unknown_chain', `${NOBODY}-nowhere`],
    ] as const
  ).map(([name, params, reason, item]) => {
    const rejected: Form = [{ item: JSON.stringify(item), reason: JSON.stringify(reason) }]
    return [name, () => request('subscribe', params), failure(-32_003, { rejected })] as const
  }),
  [
    'a batch',
    () => [request('ping', []), request('publish', [])],
    [
      {
        jsonrpc: '"2.0"',
        id: '7',
        'result?': '"pong"',
        'error?': { code: '-32601', message: 'string!', data: { pointer: '"/method"' } },
      },
    ],
  ],
  ['unsubscribe from everything', () => request('unsubscribe', []), ok('unsubscribe', 'anything')],
]
