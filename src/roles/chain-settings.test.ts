import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { PROTOCOL_NAMES } from '../config/chain-schema.ts'
import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { PROTOCOLS } from '../dex/protocols.ts'
import { DexRegistry } from '../dex/registry.ts'
import { SOLANA_PROTOCOLS } from '../dex/solana/protocols.ts'
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
  for (const [name, { announcements, events }] of Object.entries(PROTOCOLS)) {
    const isSolana = name in SOLANA_PROTOCOLS
    // A discriminator has at most eight bytes, and one more for a second log; a topic of an EVM log has 32.
    for (const topic of [...Object.keys(announcements), ...Object.keys(events)])
      assert.match(topic, isSolana ? /^0x([0-9a-f]{2}){1,9}$/ : /^0x[0-9a-f]{64}$/, `${name} ${topic}`)
  }
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
