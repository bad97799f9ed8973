import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { loadConfig } from '../config/load.ts'
import { type Config, PROTOCOL_NAMES } from '../config/schema.ts'
import { PROTOCOLS } from '../dex/protocols.ts'
import { createRegistry } from './dex-registry.ts'

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
  assert.deepEqual([...PROTOCOL_NAMES].sort(), Object.keys(PROTOCOLS).sort())
})

describe('the shipped chains', () => {
  test('are these', () => {
    assert.deepEqual(shipped.sort(), ['arbitrum', 'base', 'bsc', 'eth', 'local', 'optimism', 'polygon'])
  })

  for (const name of shipped) {
    test(`${name}: every exchange is found by its factory`, () => {
      const chain = config.chains[name]
      assert.ok(chain !== undefined)
      const registry = createRegistry(chain)
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
