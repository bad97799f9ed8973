import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { words } from '../../../../test/support/builders/abi-words.ts'
import { padded } from '../../../../test/support/builders/raw-log.ts'
import { NOTHING_COMMITTED } from '../../../../test/support/rigs/memory-state.ts'
import { callData } from '../../../dex/evm/abi.ts'
import { TRANSFER } from '../../../dex/evm/token-moves.ts'
import type { Answer } from '../../../dex/protocol.ts'
import { PROTOCOLS } from '../../../dex/protocols.ts'
import { DexRegistry } from '../../../dex/registry.ts'
import type { Fact, RawLog, RawTransaction } from '../../../domain/envelope.ts'
import type { Asker } from '../../facts/asker.ts'
import { ReaderIndex } from '../../reader-index.ts'
import type { Header } from '../../source.ts'
import { EvmFacts } from './facts.ts'

const address = (at: number): string => `0x${at.toString(16).padStart(40, '0')}`
const FACTORY = address(0xfac)
const LOCKER = address(0x10c)
const POOLS = [1, 2, 3, 4].map((at) => address(0x100 + at))
const TOKENS = [1, 2, 3].map((at) => address(0x200 + at))
const SWAP = Object.keys(PROTOCOLS['uniswap_v2']?.events ?? {})[0] as string
const ETHER = { name: 'Ether', symbol: 'ETH', decimals: 18 }
const BALANCE_OF = '0x70a08231'

type Happening = { readonly kind: 'swap' | 'transfer'; readonly at: number; readonly to: number }
type Block = { readonly header: Header; readonly transactions: readonly RawTransaction[] }

const pick = (list: readonly string[], at: number): string => list[at % list.length] as string

function blocksOf(script: readonly (readonly Happening[])[]): Block[] {
  return script.map((happenings, number) => {
    const logs = happenings.map(({ kind, at, to }, index): RawLog => {
      const holder = words(address(0x300 + to))
      return kind === 'swap'
        ? { index, address: pick(POOLS, at), topics: [SWAP], data: Buffer.alloc(128) }
        : {
            index,
            address: pick(TOKENS, at),
            topics: [TRANSFER, words(address(0x999)), holder],
            data: Buffer.from(words(5n).slice(2), 'hex'),
          }
    })
    const hash = `0x${(number + 1).toString(16).padStart(64, '0')}`
    const parentHash = `0x${number.toString(16).padStart(64, '0')}`
    const transaction = { index: 0, hash: `0x${'ab'.repeat(32)}`, from: address(0x999), logs }
    return {
      header: { number, hash, parentHash, time: number },
      transactions: logs.length > 0 ? [transaction] : [],
    }
  })
}

/** Contracts whose answers depend on the block: the last pool is the factory's only later, and some do not answer at all. */
function contracts(isSilentAt: (block: number) => boolean): Asker & { asked: number; isDown: boolean } {
  const answer = (to: string, data: string, block: number): Answer => {
    const word = (value: string | bigint): Buffer => Buffer.from(words(value).slice(2), 'hex')
    const pool = POOLS.indexOf(to)
    const [token0, token1] = [pick(TOKENS, pool), pick(TOKENS, pool + 1)]
    if (data.startsWith(BALANCE_OF)) return isSilentAt(block) ? undefined : word(BigInt(block))
    if (data === '0xc45a0155') return pool === 0 ? word(address(1)) : word(FACTORY)
    if (data === '0x0dfe1681') return word(token0)
    if (data === '0xd21220a7') return word(token1)
    if (to !== FACTORY) return word(7n)
    const known = POOLS.find(
      (_, at) => data === callData(data.slice(0, 10), pick(TOKENS, at), pick(TOKENS, at + 1)),
    )
    return known === undefined || (known === POOLS[3] && block < 9) ? undefined : word(known)
  }
  const node = { asked: 0, isDown: false }
  const ask: Asker['ask'] = async (calls, blockHash) => {
    if (calls.length > 0) node.asked++
    await Promise.resolve()
    if (node.isDown) throw new Error('down')
    return calls.map(({ to, data }) => answer(to, data, Number(blockHash)))
  }
  return Object.assign(node, { ask, askExactly: ask })
}

/** What a reader appends that asks ahead for so many blocks; with none, block by block. */
async function read(blocks: readonly Block[], asker: ReturnType<typeof contracts>, width: number, head = 0) {
  const index = new ReaderIndex(NOTHING_COMMITTED)
  const registry = new DexRegistry([{ amm: 'uniswap_v2', protocol: 'uniswap_v2', factory: FACTORY }])
  const facts = new EvmFacts(asker, registry, ETHER, new Set(), [LOCKER])
  const gathered: { transactions: readonly RawTransaction[]; facts: readonly Fact[] }[] = []
  const asked: number[] = []
  for (const [at, { header, transactions }] of blocks.entries()) {
    const ahead = blocks.slice(at === 0 ? 0 : at + width - 1, at + width)
    await Promise.all(
      ahead.map((block) =>
        facts.askAhead(block.header, block.transactions, index, head).catch(() => undefined),
      ),
    )
    asker.isDown = false
    const before = asker.asked
    const found = await facts.gather(header, transactions, index, head)
    asked.push(asker.asked - before)
    gathered.push(found)
    index.apply({ kind: 'block', chain: 'test', ...header, ...found })
  }
  return { gathered, asked }
}

const happening = fc.record({
  kind: fc.constantFrom('swap' as const, 'transfer' as const),
  at: fc.nat(3),
  to: fc.nat(2),
})
const script = fc.array(fc.array(happening, { maxLength: 4 }), { minLength: 1, maxLength: 30 })

test('prefetching changes neither the transactions nor the facts of any block', async () => {
  await fc.assert(
    fc.asyncProperty(script, fc.integer({ min: 1, max: 8 }), fc.nat(4), fc.boolean(), async (...run) => {
      const [happenings, width, silent, isDownFirst] = run
      const head = isDownFirst ? 0 : 1_000
      const isSilentAt = (block: number): boolean => silent > 0 && block % silent === 0
      const blocks = blocksOf(happenings)
      const inOrder = await read(blocks, contracts(isSilentAt), 0, head)
      // A fresh set of headers, and a node that does not answer the first ones.
      const ahead = contracts(isSilentAt)
      ahead.isDown = isDownFirst
      assert.deepEqual((await read(blocksOf(happenings), ahead, width, head)).gathered, inOrder.gathered)
    }),
    { numRuns: 300 },
  )
})

test('a block whose turn has come asks nothing that was asked ahead', async () => {
  const swaps = Array.from({ length: 40 }, (_, at): Happening[] => [
    { kind: 'swap', at: 1 + (at % 2), to: 0 },
    { kind: 'transfer', at: 1, to: at },
  ])
  const [width, head] = [8, 1_000]
  const isSilentAt = (): boolean => false
  const inOrder = await read(blocksOf(swaps), contracts(isSilentAt), 0, head)
  const ahead = await read(blocksOf(swaps), contracts(isSilentAt), width, head)
  assert.deepEqual(ahead.gathered, inOrder.gathered)
  const sum = (asked: readonly number[]): number => asked.reduce((all, one) => all + one, 0)
  assert.ok(sum(inOrder.asked.slice(width)) > 5)
  // Only what the first blocks met was not known yet when the next ones were asked about.
  assert.equal(sum(ahead.asked.slice(width)), 0)
  assert.ok(sum(ahead.asked) <= 2)
})

test('what a configured launch platform reports about a token is in the block, and nothing is asked for it', async () => {
  const registry = new DexRegistry([{ amm: 'virtuals', protocol: 'virtuals_launchpad', factory: FACTORY }])
  const asker = contracts(() => false)
  const facts = new EvmFacts(asker, registry, ETHER, new Set(), [LOCKER])
  const graduated = '0x381d54fa425631e6266af114239150fae1d5db67bb65b4fa9ecc65013107e07e'
  const log = (index: number, from: string, data: string): RawLog => ({
    ...{ index, address: from, topics: [graduated, padded(address(5))] },
    data: Buffer.from(data.slice(2), 'hex'),
  })
  const logs = [
    log(0, FACTORY, words(address(5))),
    log(1, FACTORY, '0x'),
    log(2, address(9), words(address(5))),
  ]
  const header = { number: 1, hash: '0x01', parentHash: '0x00', time: 1 }
  const transaction = { index: 0, hash: '0x1', from: address(8), logs }
  const found = await facts.gather(header, [transaction], new ReaderIndex(NOTHING_COMMITTED))
  assert.deepEqual(found, { transactions: [{ ...transaction, logs: logs.slice(0, 1) }], facts: [] })
  assert.equal(asker.asked, 0)
})
