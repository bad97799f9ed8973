import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'
import type { ChainConfig } from '../src/config/schema.ts'
import type { DexEvent } from '../src/dex/events.ts'
import { DexRegistry } from '../src/dex/registry.ts'
import type { RawLog } from '../src/domain/envelope.ts'
import { chainSettings } from '../src/roles/chain-settings.ts'
import { type Bench, repeat, type Sides } from './measure.ts'

/**
 * What it costs to make events of raw logs, against JSON.parse of the receipts they came in: a node's answer has to
 * be parsed whatever is done with it. Each log goes the way it goes in the reader and the engine: is it the
 * announcement of a pool, which pool is it of, is that pool known, what does it say.
 */
export const bench: Bench = {
  figures: [
    {
      name: 'all logs of blocks: decode / JSON.parse of their receipts',
      bar: 0.5,
      goal: 1,
      direction: 'at least',
      per: 'cpu second',
      open: () => open(readReceipts()),
    },
    {
      // Nothing is dropped at the first glance, and the text has none of the rest of a receipt.
      name: 'logs of exchanges alone: decode / JSON.parse of these logs',
      bar: 0.5,
      goal: 1,
      direction: 'at least',
      per: 'cpu second',
      open: () => open(readReceipts().map(exchangeLogsAlone)),
    },
  ],
}

type RpcLog = { address: string; topics: string[]; data: string; logIndex: string }
type RpcReceipt = { logs: RpcLog[] }
type Receipts = { chain: string; block: number; receipts: RpcReceipt[] }
/** What decoding starts from: a log as an envelope has it, and what is known by then. */
type Prepared = {
  registry: DexRegistry
  block: number
  logs: RawLog[]
  factories: ReadonlyMap<string, string>
}

function open(blocks: readonly Receipts[]): Sides {
  const prepared = blocks.map(prepare)
  const texts = blocks.map(({ receipts }) => JSON.stringify(receipts))
  const expected = prepared.flatMap(({ logs, registry, block, factories }) =>
    logs.flatMap((log) => plainlyDecoded(log, registry, block, factories) ?? []),
  )
  const total = prepared.reduce((sum, { logs }) => sum + logs.length, 0)
  // As many logs as there are events, so that the check costs both sides the same.
  const expectedLogs = logsIn(blocks.map(({ receipts }) => receipts)).slice(0, expected.length)
  assert.ok(expected.length > 100)
  console.log(`${total} logs in ${blocks.length} blocks, ${expected.length} of them of exchanges`)

  let decoded: DexEvent[] = []
  let parsed: RpcReceipt[][] = []
  return {
    subject: repeat(
      () => {
        decoded = []
        for (const { registry, block, logs, factories } of prepared) {
          for (const log of logs) {
            const event = decode(registry, block, log, factories)
            if (event !== undefined) decoded.push(event)
          }
        }
        return total
      },
      () => difference(decoded, expected),
    ),
    baseline: repeat(
      () => {
        parsed = texts.map((text) => JSON.parse(text))
        return total
      },
      () => difference(logsIn(parsed).slice(0, expected.length), expectedLogs),
    ),
  }
}

function decode(
  registry: DexRegistry,
  block: number,
  log: RawLog,
  factories: ReadonlyMap<string, string>,
): DexEvent | undefined {
  const created = registry.announced(log, block)
  if (created !== undefined) return created
  const pool = registry.poolOf(log, block)
  const factory = pool === undefined ? undefined : factories.get(pool)
  return factory === undefined ? undefined : registry.decode(factory, log, block)
}

/** The same from the readers themselves. */
function plainlyDecoded(
  log: RawLog,
  registry: DexRegistry,
  block: number,
  factories: ReadonlyMap<string, string>,
): DexEvent | undefined {
  const topic = log.topics[0] ?? ''
  const created = registry.deploymentOf(log.address, block)?.is.announcements[topic]?.(log)
  if (created !== undefined) return created
  for (const { is, factory } of [...new Set(factories.values())].map((each) =>
    known(registry, each, block),
  )) {
    const event = is.events[topic]?.(log)
    if (event !== undefined && factories.get(event.pool) === factory) return event
  }
  return undefined
}

function known(registry: DexRegistry, factory: string, block: number) {
  const deployment = registry.deploymentOf(factory, block)
  assert.ok(deployment !== undefined)
  return deployment
}

function prepare({ chain, block, receipts }: Receipts): Prepared {
  const file = path.join(import.meta.dirname, '../config/chains', `${chain}.yaml`)
  const config = {
    min_depth_usd: 0,
    native: { decimals: 18 },
    ...parse(readFileSync(file, 'utf8')),
  } as ChainConfig
  const registry = new DexRegistry(chainSettings(config).dexes)
  const logs = logsIn([receipts]).map(({ address, topics, data, logIndex }): RawLog => {
    const bytes = Uint8Array.from(Buffer.from(data.slice(2), 'hex'))
    return { index: Number(logIndex), address: address.toLowerCase(), topics, data: bytes }
  })
  return { registry, block, logs, factories: guessFactories(registry, block, logs) }
}

/** Here nobody can be asked: a pool is taken for one of the first exchange that makes sense of most that it says. */
function guessFactories(registry: DexRegistry, block: number, logs: readonly RawLog[]): Map<string, string> {
  const said = new Map<string, Map<string, number>>()
  for (const log of logs) {
    const pool = registry.poolOf(log, block)
    if (pool === undefined) continue
    const counts = said.get(pool) ?? new Map<string, number>()
    said.set(pool, counts)
    for (const { deployments } of registry.candidates(log, block)) {
      const factory = deployments[0]?.factory ?? ''
      if (registry.decode(factory, log, block) === undefined) continue
      counts.set(factory, (counts.get(factory) ?? 0) + 1)
    }
  }
  const factories = new Map<string, string>()
  for (const [pool, counts] of said) {
    const [best] = [...counts].toSorted(([, one], [, other]) => other - one)
    if (best !== undefined) factories.set(pool, best[0])
  }
  return factories
}

function exchangeLogsAlone(receipts: Receipts): Receipts {
  const { registry, block, logs, factories } = prepare(receipts)
  const kept = logsIn([receipts.receipts]).filter((_, at) => {
    const log = logs[at]
    return log !== undefined && decode(registry, block, log, factories) !== undefined
  })
  return { ...receipts, receipts: [{ logs: kept }] }
}

function logsIn(blocks: readonly (readonly RpcReceipt[])[]): RpcLog[] {
  return blocks.flatMap((receipts) => receipts.flatMap(({ logs }) => logs))
}

function difference(actual: unknown, expected: unknown): string | undefined {
  try {
    assert.deepEqual(actual, expected)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** Receipts of real blocks, for the chains that ship with a configuration. */
function readReceipts(): Receipts[] {
  const fixtures =
    process.env['CHAINTAPE_FIXTURES'] ?? path.join(import.meta.dirname, '../../shared/fixtures')
  const folder = path.join(fixtures, 'evm/blocks')
  if (!existsSync(folder)) {
    console.log(`no fixtures in ${folder}: measuring made-up logs of the same shape`)
    return [inventReceipts()]
  }
  const known: Readonly<Record<string, string>> = {
    ethereum: 'eth',
    base: 'base',
    polygon: 'polygon',
    optimism: 'optimism',
    arbitrum: 'arbitrum',
  }
  return readdirSync(folder).flatMap((name) => {
    const [, prefix = '', block = ''] = /^(\w+)-(\d+)\.receipts\.json$/.exec(name) ?? []
    const chain = known[prefix]
    if (chain === undefined) return []
    const receipts = JSON.parse(readFileSync(path.join(folder, name), 'utf8'))
    return [{ chain, block: Number(block), receipts }]
  })
}

function inventReceipts(): Receipts {
  const topics = [
    // Sync and Swap of a pair, Swap of a pool of V3, Transfer of a token.
    ['0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1', 0, 2],
    ['0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822', 2, 4],
    ['0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67', 2, 5],
    ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef', 2, 1],
  ] as const
  const word = (value: number) => value.toString(16).padStart(64, '0')
  const receipts = Array.from({ length: 500 }, (_, at) => ({
    transactionHash: `0x${word(at)}`,
    logs: topics.map(([topic, indexed, words], kind) => ({
      address: `0x${word(1_000 + 4 * at + kind).slice(24)}`,
      topics: [topic, ...Array.from({ length: indexed }, (_, place) => `0x${word(7 * at + place + 1)}`)],
      data: `0x${Array.from({ length: words }, (_, place) => word(at * 1_000 + place + 1)).join('')}`,
      logIndex: `0x${(4 * at + kind).toString(16)}`,
    })),
  }))
  return { chain: 'eth', block: 20_000_000, receipts }
}
