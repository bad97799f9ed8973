import type { World } from '../contract/world.ts'
import type { Random } from './random.ts'

/** Addresses and API keys to use in requests. */
export type Target = Pick<World, 'names' | 'keys'>

/** Malformed HTTP: broken framing, request smuggling, garbage before, between and after requests. */
export function rawBytes(random: Random, { keys, names }: Target): Buffer {
  const key = `X-API-KEY: ${keys.good}`
  const good = `GET /v2/tokens/${names.token}-local HTTP/1.1\r\nHost: x\r\n${key}\r\n\r\n`
  const post = (headers: string, body: string): string =>
    `POST /v2/tokens/price HTTP/1.1\r\nHost: x\r\n${key}\r\nContent-Type: application/json\r\n${headers}\r\n\r\n${body}`
  const texts = [
    () => `${good}${Buffer.from(random.bytes(random.between(1, 200))).toString('latin1')}${good}`,
    () => Buffer.from(random.bytes(random.between(1, 2_000))).toString('latin1'),
    () => good.slice(0, random.between(1, good.length)),
    () => `${good.slice(0, -2)}X-Huge: ${'y'.repeat(random.between(15_000, 100_000))}\r\n\r\n`,
    () => `GET /${'x'.repeat(random.between(10_000, 40_000))} HTTP/1.1\r\nHost: x\r\n\r\n`,
    () => post('Content-Length: 5\r\nTransfer-Encoding: chunked', '0\r\n\r\n'),
    () => post('Content-Length: 5\r\nContent-Length: 6', '{}{}{}'),
    () => post('Content-Length: -1', '{}'),
    () => post('Content-Length: 99999999999999999999', '{}'),
    () => post('Content-Length: 100', '{"token_ids":[]}'),
    () => post('Transfer-Encoding: chunked', 'zz\r\n{}\r\n0\r\n\r\n'),
    () => post('Transfer-Encoding: chunked', 'ffffffffffffffff\r\n{}'),
    () => post('Transfer-Encoding: gzip', '{}'),
    () => post('Expect: 100-continue\r\nContent-Length: 16', '{"token_ids":[]}'),
    () => post('Expect: 200-maybe\r\nContent-Length: 2', '{}'),
    () => good.replace('HTTP/1.1', random.pick(['HTTP/1.0', 'HTTP/2.0', 'HTTP/9.9', 'HTTP', ''])),
    () =>
      good.replace('Host: x\r\n', random.pick(['', 'Host: x\r\nHost: y\r\n', 'Host:\r\n', ' Host: x\r\n'])),
    () => good.replaceAll('\r\n', '\n'),
    () => good.replace('GET', random.pick(['get', 'G E T', '', 'GETGETGET', 'CONNECT', '\u0000'])),
    () => `CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: x\r\n\r\n`,
    () => `OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n`,
    () => good.replace('\r\n\r\n', '\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'),
    () => good.replace('\r\n\r\n', '\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
    () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    () => '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003',
    () => `${'\r\n'.repeat(random.between(1, 2_000))}${good}`,
    () => good.replace('\r\n\r\n', `\r\n${'A: b\r\n'.repeat(random.between(500, 3_000))}\r\n`),
    () => good.replace('X-API-KEY: ', 'X-API-KEY : '),
    () => good.replace('\r\n\r\n', '\r\n\tfolded: x\r\n\r\n'),
    () => good.replace('/v2', `/v2${random.pick([' ', '\u0000', '\t', '\u00ff', '\r'])}`),
  ]
  return Buffer.from(random.pick(texts)(), 'latin1')
}
