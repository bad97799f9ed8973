import { gzipSync } from 'node:zlib'
import type { Random } from './random.ts'
import type { Message } from './ws-messages.ts'

/** Requests in a form that is not quite JSON, or not quite the JSON one expects. */

/** Below the smallest size of a message that any plan allows. */
const MAX_CHARACTERS = 60_000
const MAX_DEPTH = 20_000

/** Deep, wide or long. */
export function bomb(random: Random): string {
  const depth = random.pick([10, 100, 1_000, 5_000, MAX_DEPTH])
  const size = random.pick([100, 10_000, MAX_CHARACTERS])
  const around = (inner: string): string =>
    `{"jsonrpc":"2.0","id":1,"method":"${random.pick(['subscribe', 'unsubscribe', 'auth'])}","params":${inner}}`
  const kinds: readonly (() => string)[] = [
    () => '['.repeat(depth),
    () => `${'['.repeat(depth)}${']'.repeat(depth)}`,
    () => around(`${'['.repeat(depth)}${']'.repeat(depth)}`),
    () => around(`["tx",${'['.repeat(depth)}${']'.repeat(depth)},"local"]`),
    () => around(`["price",["x",${'['.repeat(depth)}${']'.repeat(depth)}]]`),
    () => '{"a":'.repeat(Math.min(depth, 10_000)),
    () => around(`["tx","x","local",${nestedObject(Math.min(depth, 9_000))}]`),
    () => around(`["tx","${'x'.repeat(size)}","local"]`),
    () => around(`["kline","${'\\u0000'.repeat(size / 6)}","k1","local"]`),
    () => around(`[${'"tx",'.repeat(size / 5)}"tx"]`),
    () => around(`["price",[${'"x-local",'.repeat(size / 10)}"x-local"]]`),
    () => around(`["multi_kline",${'["x","k1","local"],'.repeat(size / 20)}["x","k1","local"]]`),
    () => `{${Array.from({ length: size / 20 }, (_, at) => `"k${at}":${at}`).join(',')}}`,
    () => `[${'{},'.repeat(size / 3)}{}]`,
    () => `[${'0,'.repeat(random.below(30))}0]`,
    () => `${' '.repeat(size)}{"method":"ping"}`,
    () => `"${'💩'.repeat(size / 4)}"`,
    () => '9'.repeat(size),
    () => `{"id":${'9'.repeat(size)},"method":"ping"}`,
    () => `{"id":1e${'9'.repeat(100)},"method":"ping"}`,
  ]
  return random.pick(kinds)()
}

/** A good request's text, written differently: some ways still mean the same, others nothing. */
export function otherwiseWritten(random: Random, text: string): Message {
  const said = (payload: Buffer | string, isSound = false, isBinary = false): Message => ({
    payload: Buffer.from(payload as string),
    isBinary,
    isSound,
  })
  const number = random.pick([
    '1e999',
    '-1e999',
    '1.5',
    '1.0',
    '1e2',
    '-0',
    '01',
    '0x1',
    '1n',
    'NaN',
    '-',
    '1e-7',
  ])
  const kinds: readonly (() => Message)[] = [
    () => said(text.replace('{', `{"id":${number},`)),
    () => said(text.replace(/"id":\d+/, `"id":${number}`)),
    () => said(text.replace(/"id":\d+/, `"id":"${random.below(100)}"`)),
    () => said(text.replace('{', '{"__proto__":{"method":"ping","id":1},')),
    () => said(text.replace('{', '{"constructor":{"prototype":{"id":1}},')),
    () => said(text.replace('{', '{"method":"subscribe","method":"ping",')),
    () => said(text.replace('{', '{\n\t ').replaceAll(',', ' ,\r\n'), true),
    () => said(text.replace('"method"', '"\\u006dethod"'), true),
    () => said(text.replace('"2.0"', '"2.0\\ud800"')),
    () => said(text.replaceAll('local', 'lo\\udc00cal')),
    () => said(text.replace('"id"', '"\\ud83d\\ude00":"\\ud800\\udc00\\ud800","id"'), true),
    () => said(text.replace('}', ',}')),
    () => said(text.replaceAll('"', "'")),
    () => said(`${text}${text}`),
    () => said(`${text}\n${text}`),
    () => said(text.slice(0, random.below(text.length))),
    () => said(`\ufeff${text}`),
    () => said(`${text}\u0000`),
    () => said(`\u00a0${text}`),
    () => said(`/* */${text}`),
    () =>
      said(
        random.pick(['', ' ', 'null', 'true', '0', '""', '[]', '{}', '[[]]', '[null]', 'undefined', 'ping']),
      ),
    () => said(Buffer.from(text, 'utf16le')),
    () => said(Buffer.from(`\ufeff${text}`, 'utf16le')),
    () => said(Buffer.from(text.replace('local', 'löcal'), 'latin1')),
    () => said(Buffer.from(text), false, true),
    () => said(gzipSync(text), false, true),
    () => said(Buffer.from(random.bytes(random.below(300)))),
    () => said(Buffer.from(random.bytes(random.below(300))), false, true),
    () => said(flipped(Buffer.from(text), random)),
  ]
  return random.pick(kinds)()
}

function nestedObject(depth: number): string {
  return `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
}

function flipped(bytes: Buffer, random: Random): Buffer {
  const at = random.below(bytes.length)
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8))
  return bytes
}
