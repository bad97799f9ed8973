import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { PROTOCOL_NAMES } from '../config/chain-schema.ts'
import { loadConfig } from '../config/load.ts'
import type { ChainConfig, Config } from '../config/schema.ts'
import { PROTOCOLS } from '../dex/protocols.ts'
import { DexRegistry } from '../dex/registry.ts'
import { SOLANA_PROTOCOLS } from '../dex/solana/protocols.ts'
import { isBalance } from '../domain/limits.ts'
import { chainSettings } from './chain-settings.ts'

const LATEST_BLOCK = Number.MAX_SAFE_INTEGER
const shipped = readdirSync(new URL('../../config/chains/', import.meta.url)).map((file) =>
  file.replace('.yaml', ''),
)

let dir: string
let config: Config

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'chaintape-registry-'))
  const file = join(dir, 'chaintape.yaml')
  const chains = shipped.map((name) => `  ${name}: { rpc_urls: ["http://127.0.0.1:1"] }`)
  writeFileSync(file, `chains:\n${chains.join('\n')}\n`)
  config = loadConfig(file, {})
})

after(() => rm(dir, { recursive: true }))

test('the configuration accepts exactly the existing protocols', () => {
  const names = [...PROTOCOL_NAMES.evm, ...PROTOCOL_NAMES.solana]
  assert.deepEqual(names.sort(), Object.keys(PROTOCOLS).sort())
  assert.deepEqual([...PROTOCOL_NAMES.solana].sort(), Object.keys(SOLANA_PROTOCOLS).sort())
})

test('the topics of the two families cannot be equal', () => {
  for (const [name, { announcements, events, tokenEvents = {} }] of Object.entries(PROTOCOLS)) {
    const isSolana = name in SOLANA_PROTOCOLS
    // A discriminator has at most eight bytes, and one more for a second log; a topic of an EVM log has 32.
    for (const topic of [announcements, events, tokenEvents].flatMap((readers) => Object.keys(readers)))
      assert.match(topic, isSolana ? /^0x([0-9a-f]{2}){1,9}$/ : /^0x[0-9a-f]{64}$/, `${name} ${topic}`)
  }
})

describe('the supply of the native coin', () => {
  const stating = (name: string, supply?: number) => {
    const chain = config.chains[name]
    assert.ok(chain !== undefined)
    return chainSettings({ ...chain, native: { ...chain.native, ...(supply && { supply }) } } as ChainConfig)
      .native
  }

  test('belongs to the coin itself, which is the zero address or wrapped SOL', () => {
    const zero = `0x${'0'.repeat(40)}`
    assert.deepEqual(stating('bsc', 139_000_000), { address: zero, supplyRaw: 139n * 10n ** 24n })
    const wrapped = 'So11111111111111111111111111111111111111112'
    assert.deepEqual(stating('solana', 600_000_000), { address: wrapped, supplyRaw: 6n * 10n ** 17n })
  })

  test('is exact up to the largest number of a file, with the most decimals', () => {
    const supplyRaw = stating('eth', Number.MAX_SAFE_INTEGER)?.supplyRaw
    assert.equal(supplyRaw, 9_007_199_254_740_991n * 10n ** 18n)
    assert.ok(isBalance(9_007_199_254_740_991n * 10n ** 36n))
  })

  test('is unknown without the setting; no shipped file guesses it', () => {
    for (const name of shipped) assert.equal(stating(name)?.supplyRaw, undefined)
  })
})

describe('the shipped chains', () => {
  test('are these', () => {
    assert.deepEqual(shipped.sort(), [
      'arbitrum',
      'base',
      'bsc',
      'eth',
      'local',
      'optimism',
      'polygon',
      'solana',
    ])
  })

  for (const name of shipped) {
    test(`${name}: every exchange is found by its factory`, () => {
      const chain = config.chains[name]
      assert.ok(chain !== undefined)
      const registry = new DexRegistry(chainSettings(chain).dexes)
      for (const { amm, factory, protocol } of chain.dexes) {
        const found = registry.deploymentOf(factory, LATEST_BLOCK)
        assert.deepEqual([found?.amm, found?.protocol], [amm, protocol], factory)
      }
    })

    test(`${name}: no quote asset is listed twice, and there are stablecoins and a native coin`, () => {
      const assets = config.chains[name]?.quote_assets ?? []
      assert.equal(new Set(assets.map(({ address }) => address)).size, assets.length)
      const kinds = new Set(assets.map(({ kind }) => kind))
      assert.ok(kinds.has('stable') && kinds.has('native'))
    })
  }
})
