import type { Random } from './random.ts'
import { HOSTILE_TEXTS } from './rest-values.ts'
import type { WsTarget } from './ws-messages.ts'

/** Requests to open a socket: good ones in every dress, and others. */

/** The standard's own example; what it has to be answered with is known. */
const NONCE = 'dGhlIHNhbXBsZSBub25jZQ=='
export const ACCEPTED = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='

/** One that has to be let in, if the key is good. */
export function goodDoor(random: Random, apiKey: string | undefined): Buffer {
  const key =
    apiKey === undefined ? [] : [`${random.pick(['X-API-KEY', 'x-api-key', 'X-Api-Key'])}: ${apiKey}`]
  const more = [
    'Origin: http://gateway',
    'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits',
    'Sec-WebSocket-Extensions: x-unknown; a=b',
    'Sec-WebSocket-Protocol: jsonrpc, other',
    'Cookie: a=b; c',
    'X-Forwarded-For: 10.0.0.1, ::1',
    `X-Long: ${'y'.repeat(4_000)}`,
    'Accept-Encoding: gzip',
    'Content-Length: 0',
  ].filter(() => random.chance(0.1))
  return request([
    'GET /ws HTTP/1.1',
    'Host: gateway',
    `Connection: ${random.pick(['Upgrade', 'upgrade', 'keep-alive, Upgrade'])}`,
    `Upgrade: ${random.pick(['websocket', 'WebSocket', 'websocket'])}`,
    `Sec-WebSocket-Version: ${random.pick([13, 13, 13, 8])}`,
    `Sec-WebSocket-Key: ${NONCE}`,
    ...key,
    ...more,
  ])
}

/** One with something odd about it: it may be let in or refused, but not in any way. */
export function oddDoor(random: Random, target: WsTarget): Buffer {
  const good = goodDoor(random, target.keys.flood).toString('latin1')
  const replaced = (what: RegExp | string, by: string) => (): string => good.replace(what, () => by)
  const hostile = Buffer.from(withoutLineEnds(random.pick(HOSTILE_TEXTS)).toWellFormed()).toString('latin1')
  const header = (name: string, value: string) => (): string =>
    good.replace(new RegExp(`^${name}: .*$`, 'im'), () => `${name}: ${value}`)
  const kinds: readonly (() => string)[] = [
    replaced(
      '/ws',
      random.pick(['/', '/wss', '/ws/', '//ws', '/WS', '/%77s', '/ws%00', '*', 'http://other/ws', '']),
    ),
    replaced('/ws', `/ws?${random.pick(['', 'x', 'api_key=1', encodeURIComponent(hostile)])}`),
    replaced('/ws', `/ws#${hostile.replaceAll(' ', '')}`),
    replaced('GET', random.pick(['POST', 'PUT', 'HEAD', 'OPTIONS', 'DELETE', 'get', 'CONNECT', 'QUERY'])),
    replaced('HTTP/1.1', random.pick(['HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', ''])),
    replaced(/^Host: .*\r\n/m, random.pick(['', 'Host: a\r\nHost: b\r\n', 'Host: \r\n'])),
    header('Upgrade', random.pick(['h2c', 'websocket, h2c', 'websockets', '', hostile])),
    header('Connection', random.pick(['close', 'Upgrade, close', 'upgraded', '', hostile])),
    header(
      'Sec-WebSocket-Version',
      random.pick(['12', '0', '-13', '13, 8', '1e1', '0xd', '', 'NaN', hostile]),
    ),
    header(
      'Sec-WebSocket-Key',
      random.pick(['', 'x', 'A'.repeat(24), `${NONCE}=`, 'A'.repeat(5_000), hostile]),
    ),
    header('x-api-key', random.pick([target.keys.expired, target.keys.revoked, 'ctk_', 'x', '', hostile])),
    () =>
      good.replace(
        '\r\n\r\n',
        `\r\nOrigin: ${random.pick(['null', 'https://elsewhere.example', '', hostile])}\r\n\r\n`,
      ),
    () => good.replace('\r\n\r\n', `\r\nX-API-KEY: ${target.keys.good}\r\n\r\n`),
    () => good.replace('\r\n\r\n', `\r\nSec-WebSocket-Key: ${NONCE}\r\n\r\n`),
    () =>
      good.replace(
        '\r\n\r\n',
        `\r\nSec-WebSocket-Protocol: ${random.pick(['', ',', 'a,a', 'a b', hostile])}\r\n\r\n`,
      ),
    () =>
      good.replace(
        '\r\n\r\n',
        `\r\nSec-WebSocket-Extensions: ${random.pick(['', ';', 'permessage-deflate;=', 'permessage-deflate; server_max_window_bits=99', '"', hostile])}\r\n\r\n`,
      ),
    () => good.replace('\r\n\r\n', '\r\nContent-Length: 5\r\n\r\nhello'),
    () => good.replace('\r\n\r\n', '\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
    () => good.replace('\r\n\r\n', `\r\n${'X-Many: y\r\n'.repeat(random.between(100, 3_000))}\r\n`),
    () => good.replace('\r\n\r\n', `\r\nX-Huge: ${'y'.repeat(random.between(10_000, 60_000))}\r\n\r\n`),
    () => good.replace('\r\n\r\n', `\r\nExpect: 100-continue\r\n\r\n`),
    () => `${good}${good}`,
    () => `${good}${Buffer.from(random.bytes(random.between(1, 200))).toString('latin1')}`,
    () => good.slice(0, random.between(1, good.length - 1)),
    () => good.replaceAll('\r\n', '\n'),
  ]
  return Buffer.from(random.pick(kinds)(), 'latin1')
}

function request(lines: readonly string[]): Buffer {
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

/** What a header holds must not end it, or it would be another header. */
function withoutLineEnds(text: string): string {
  return text.replaceAll('\r', '').replaceAll('\n', '')
}
