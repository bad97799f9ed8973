/** The trees and lines that check-layers.test.ts feeds to the check. */
export type Files = Record<string, string>

export const cleanTree: Files = {
  'src/main.ts': `import { run } from './roles/all.ts'\nimport { load } from './config/load.ts'\nrun(load)\n`,
  'src/roles/all.ts': `import '../engine/apply.ts'\nimport '../gateway/app.ts'\nimport '../chain/link.ts'\nexport const run = async (x: unknown) => process.stdout.write(String(x))\n`,
  'src/config/load.ts': `import { readFileSync } from 'node:fs'\nimport { id } from '../domain/ids.ts'\nexport const load = () => readFileSync(id)\n`,
  'src/domain/ids.ts': `import { crc32 } from 'node:zlib'\nexport const id = String(crc32('x'))\nexport const rate = { random: 1, Date: 2, process: 3 }.process\n`,
  'src/domain/money.ts': `import { id } from './ids.ts'\nexport const priceDigits: number = 18\nexport const PRICE_SCALE: number = 18\nexport const tradeCount = Number(priceDigits)\nexport interface Trade { amount: bigint; at: number; priceById: Map<number, bigint> }\nexport const half = (amount: bigint) => amount / 2n + BigInt(Math.min(1e3, 2)) + BigInt(id)\n`,
  'src/domain/money.test.ts': `import fc from 'fast-check'\nimport test from 'node:test'\nimport assert from 'node:assert/strict'\nimport { world } from '../../test/support/world.ts'\nimport { half } from './money.ts'\ntest('x', async () => assert.ok(Date.now() * 0.5 && fc && world && half))\n`,
  'src/lib/clock.ts': `export const now = () => Date.now() / 1000.5\n`,
  'src/dex/registry.ts': `import { decode } from './evm/decode.ts'\nexport const registry = [decode]\n`,
  'src/dex/evm/decode.ts': `import type { Event } from '../event.ts'\nimport { id } from '../../domain/ids.ts'\nexport const decode = (event: Event) => Buffer.from(id + event)\n`,
  'src/dex/event.ts': `export type Event = string\n`,
  'src/engine/apply.ts': `import { registry } from '../dex/registry.ts'\nexport const apply = () => registry\n`,
  'src/chain/source.ts': `import { now } from '../lib/clock.ts'\nexport interface Head { at: number }\nexport const head = async (): Promise<Head> => ({ at: now() })\n`,
  'src/chain/link.ts': `import type { Head } from './source.ts'\nexport const link = (head: Head) => head.at\n`,
  'src/log/read.ts': `import { id } from '../domain/ids.ts'\nexport const read = id\n`,
  'src/store/redis/documents.ts': `import { now } from '../../lib/clock.ts'\nexport const documents = now\n`,
  'src/gateway/app.ts': `import { read } from '../log/read.ts'\nimport { documents } from '../store/redis/documents.ts'\nexport const app = [read, documents]\n`,
}

export const structureRows: [string, Files, string[]][] = [
  [
    'type-only import',
    { 'src/lib/a.ts': `\nimport type { X } from '../domain/x.ts'\n` },
    ['src/lib/a.ts:2: layer-import'],
  ],
  [
    'inline type import',
    { 'src/lib/a.ts': `let a: import('../domain/x.ts').X\n` },
    ['src/lib/a.ts:1: layer-import'],
  ],
  ['re-export', { 'src/lib/a.ts': `export * from '../domain/x.ts'\n` }, ['src/lib/a.ts:1: layer-import']],
  [
    'named re-export',
    { 'src/lib/a.ts': `export { x } from '../domain/x.ts'\n` },
    ['src/lib/a.ts:1: layer-import'],
  ],
  ['import()', { 'src/lib/a.ts': `import('../domain/x.ts')\n` }, ['src/lib/a.ts:1: layer-import']],
  ['require', { 'src/lib/a.ts': `require('../domain/x.ts')\n` }, ['src/lib/a.ts:1: layer-import']],
  [
    'computed import()',
    { 'src/roles/a.ts': `import(process.argv[2])\n` },
    ['src/roles/a.ts:1: dynamic-import'],
  ],
  [
    'a test obeys the layers',
    { 'src/lib/a.test.ts': `import '../domain/x.ts'\n` },
    ['src/lib/a.test.ts:1: layer-import'],
  ],
  [
    'a test of src needs a world',
    { 'src/lib/a.test.ts': `import '../../test/e2e/x.ts'\n` },
    ['src/lib/a.test.ts:1: outside-import'],
  ],
  ['test/', { 'src/lib/a.ts': `import '../../test/support/x.ts'\n` }, ['src/lib/a.ts:1: outside-import']],
  ['dev/', { 'src/lib/a.ts': `import '../../dev/x.ts'\n` }, ['src/lib/a.ts:1: outside-import']],
  ['bench/', { 'src/lib/a.ts': `import '../../bench/x.ts'\n` }, ['src/lib/a.ts:1: outside-import']],
  ['a test as a library', { 'src/lib/a.ts': `import './b.test.ts'\n` }, ['src/lib/a.ts:1: test-import']],
  ['test tool', { 'src/lib/a.ts': `import fc from 'fast-check'\n` }, ['src/lib/a.ts:1: test-only-package']],
  [
    'gateway writes',
    { 'src/gateway/a.ts': `import '../log/publish.ts'\nimport '../store/clickhouse/write/x.ts'\n` },
    ['src/gateway/a.ts:1: gateway-reads', 'src/gateway/a.ts:2: gateway-reads'],
  ],
  [
    'link.ts runs lib',
    { 'src/chain/link.ts': `import { now } from '../lib/clock.ts'\n` },
    ['src/chain/link.ts:1: pure-import'],
  ],
  ['unknown folder', { 'src/misc/a.ts': '' }, ['src/misc/a.ts:1: unknown-layer']],
  ['file beside main.ts', { 'src/other.ts': '' }, ['src/other.ts:1: unknown-layer']],
  ['JavaScript', { 'src/lib/a.ts': '', 'src/lib/b.mjs': '' }, ['src/lib/b.mjs:1: file-type']],
  ['syntax error', { 'src/lib/a.ts': '\nconst = 1\n' }, ['src/lib/a.ts:2: syntax']],
  ['nothing to check', {}, ['src:1: no-sources']],
  ['utils', { 'src/lib/utils/a.ts': '' }, ['src/lib/utils:1: folder-name']],
  ['helpers', { 'src/lib/a.ts': '', 'test/e2e/helpers/a.ts': '' }, ['test/e2e/helpers:1: folder-name']],
  [
    'file cycle',
    { 'src/lib/a.ts': `import './b.ts'\n`, 'src/lib/b.ts': `\nimport type { A } from './a.ts'\n` },
    ['src/lib/b.ts:2: file-cycle'],
  ],
  ['file imports itself', { 'src/lib/a.ts': `import './a.ts'\n` }, ['src/lib/a.ts:1: file-cycle']],
  [
    'folder cycle',
    {
      'src/lib/p/a.ts': `import '../q/b.ts'\n`,
      'src/lib/q/b.ts': '',
      'src/lib/q/c.ts': `\n\nimport '../p/d.ts'\n`,
      'src/lib/p/d.ts': '',
    },
    ['src/lib/q/c.ts:3: folder-cycle'],
  ],
]
for (const alias of [
  '/src/domain/x.ts',
  '#domain/x.ts',
  '@/domain/x.ts',
  '~/x.ts',
  'src/domain/x.ts',
  'domain/x.ts',
  'chaintape/src/x.ts',
  'file:///x.ts',
  '..',
]) {
  structureRows.push([
    `alias ${alias}`,
    { 'src/lib/a.ts': `import '${alias}'\n` },
    ['src/lib/a.ts:1: import-alias'],
  ])
}

/** One offence per line; each is put into a domain file alone and must give exactly its rule. */
export const pureRows: Record<string, string> = {
  'pure-package': `
    import { createHash } from 'node:crypto'
    import { gzipSync } from 'node:zlib'
    import * as zlib from 'node:zlib'
    import zlib from 'node:zlib'
    import { keccak256 } from 'viem'
    import type { Hex } from 'viem'
    import 'viem'
    export { gzipSync } from 'node:zlib'
  `,
  'pure-global': `
    process.env
    fetch(u)
    Date.now()
    new Date()
    performance.now()
    Math.random()
    Math['random']()
    crypto.randomUUID()
    setTimeout(f)
    setInterval(f)
    setImmediate(f)
    queueMicrotask(f)
    console.log(1)
    new XMLHttpRequest()
    new WebSocket(u)
    Intl.NumberFormat
    x.toLocaleString()
    x['toLocaleUpperCase']()
    a.localeCompare(b)
    const { toLocaleString } = x
    globalThis.x
    eval('1')
    new Function(s)
    const f = { Date }
    let at: Date
    const now = Date
    import.meta.url
    new WeakRef(x)
    Temporal.Now
    clearTimeout(t)
    clearInterval(t)
    clearImmediate(t)
    new EventSource(u)
    new BroadcastChannel(s)
    new MessageChannel()
    new Worker(u)
    navigator.language
    global.x
    localStorage.x
    sessionStorage.x
    WebAssembly.compile(b)
    new FinalizationRegistry(f)
    new SharedArrayBuffer(1)
    Atomics.wait(a)
    require.main
    function process() {}
  `,
  'pure-async': `
    async function f() {}
    const f = async () => 1
    const o = { async m() {} }
    class A { async m() {} }
    await x
    for await (const a of b) {}
    await using a = b
    let p: Promise<void>
    Promise.resolve()
    let a: PromiseLike<X>
    let a: AsyncIterable<X>
    let a: AsyncIterator<X>
    let a: AsyncIterableIterator<X>
    let a: AsyncGenerator<X>
    AbortSignal.timeout(1)
  `,
  'money-float': `
    parseFloat(s)
    Number.parseFloat(s)
    list.map(parseFloat)
    const o = { parseFloat }
    const { parseFloat } = Number
    x.toFixed(2)
    x.toPrecision(2)
    x.toExponential()
    Math.round(x)
    Math.pow(a, b)
    Math.sqrt(x)
    Math[f](x)
    const m = Math
    const { round } = Math
    const x = 0.5
    const x = 1e-3
    const x = 1e21
    const x = 0xffffffffffffffff
    new Float32Array(1)
    new Float64Array(1)
    v.getFloat32(0)
    v.getFloat64(0)
    v.setFloat32(0, 1)
    v.setFloat64(0, 1)
    new Float16Array(1)
    v.getFloat16(0)
    class A { x = 0.5 }
    b.readFloatBE()
    b.readDoubleLE()
    b.writeFloatLE(1)
    b.writeDoubleBE(1)
  `,
  'money-number': `
    let price: number
    interface A { amount: number }
    interface A { volumeUsd?: number | null }
    class A { reserve0: number = 1 }
    function f(liquidity: number) {}
    const f = (tvl: number = 1) => 1
    type T = { totalSupply: number }
    let balances: readonly number[]
    let fdvs: Map<string, number>
    let marketCap: number
    let MARKET_CAP: number
    type Price = number
    function f(...amounts: number[]) {}
    let priceFormat: number
    type T = { "price": number }
    Number(amount)
    Number(trade.amountRaw)
    Number(a.price!)
    Number(volume / 2n)
    Number(amount.toString())
    Number(priceOf(x))
    +price
    parseInt(price)
    Number.parseInt(price)
  `,
}
