import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after } from 'node:test'
import { loadConfig } from '../../../src/config/load.ts'
import { ChaintapeError } from '../../../src/domain/errors.ts'

/** Configurations to load, and what is said of those that are refused. */

export type Tree = { [key: string]: unknown }

export const folder = mkdtempSync(path.join(tmpdir(), 'chaintape-config-'))
export const file = path.join(folder, 'chaintape.yaml')
after(() => rmSync(folder, { recursive: true }))

export const mixedCase = '0xAbCdEf0123456789aBcDeF0123456789AbCdEf01'

export const chain = {
  family: 'evm',
  chain_id: 31_337,
  rpc_urls: ['http://127.0.0.1:8545'],
  quote_assets: [{ address: mixedCase, kind: 'stable' }],
  dexes: [{ amm: 'uniswap', protocol: 'uniswap_v2', factory: mixedCase }],
}
export const solanaChain = {
  family: 'solana',
  genesis_hash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  rpc_urls: ['http://127.0.0.1:8899'],
  quote_assets: [{ address: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', kind: 'stable' }],
  dexes: [{ amm: 'pump', protocol: 'pump_fun', factory: '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P' }],
}
export const minimal = { gateway: { port: 8080 }, chains: { unshipped: chain } }

// JSON is YAML: a tree is as good as a text, and easier to vary.
export function load(content: Tree | string, env: NodeJS.ProcessEnv = {}) {
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return loadConfig(file, env)
}

/** Problems, and below them lines to write instead. */
export function refusal(work: () => unknown): { problems: string[]; examples: string[] } {
  try {
    work()
  } catch (error) {
    assert.ok(error instanceof ChaintapeError && error.code === 'config_invalid', String(error))
    const [problems = '', examples = ''] = error.message.split('\n\nwrite, for example:\n  ')
    return { problems: problems.split('\n  '), examples: examples === '' ? [] : examples.split('\n  ') }
  }
  throw new assert.AssertionError({ message: 'the configuration is accepted' })
}

export function assertRefused(
  content: Tree | string,
  problems: readonly string[],
  env: NodeJS.ProcessEnv = {},
): void {
  const { problems: found } = refusal(() => load(content, env))
  assert.deepEqual(found, [`configuration from ${file} and the environment:`, ...problems])
}

export function withSolanaChain(own: Tree): Tree {
  return { ...minimal, chains: { unshipped: { ...solanaChain, ...own } } }
}

export function withChain(own: Tree): Tree {
  return { ...minimal, chains: { unshipped: { ...chain, ...own } } }
}
