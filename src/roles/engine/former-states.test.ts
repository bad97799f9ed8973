import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { hasCode } from '../../../test/support/rigs/log-reading.ts'
import { createTestCommon } from '../../../test/support/rigs/test-common.ts'
import type { Config } from '../../config/schema.ts'
import type { ChainGenerations } from '../../domain/generation.ts'
import { mustKnowStates, removeFormerStates } from './former-states.ts'

function withStates(names: readonly string[], work: (config: Config, left: () => string[]) => void): void {
  const dir = mkdtempSync(join(tmpdir(), 'chaintape-states-'))
  try {
    for (const name of names) mkdirSync(join(dir, 'engine', name), { recursive: true })
    const config = { data_dir: dir, snapshots: {}, chains: { eth: {} } } as unknown as Config
    work(config, () => readdirSync(join(dir, 'engine')).sort())
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

const { logger } = createTestCommon()
const of = (entry: ChainGenerations) => ({ of: () => entry })

test('states of former and canceled generations are deleted, and no others', () => {
  withStates(['eth', 'eth@2', 'eth@3', 'eth@5', 'bsc', 'bsc@2'], (config, left) => {
    const entry = { serving: { number: 2 }, building: { number: 5 }, lastNumber: 5 }
    removeFormerStates(config, of(entry), logger)
    assert.deepEqual(left(), ['bsc', 'bsc@2', 'eth@2', 'eth@5'])
  })
})

test('a state above the known numbers means that the entry is lost: it stays, and nothing is folded', () => {
  withStates(['eth@2'], (config, left) => {
    const lost = of({ serving: { number: 1 } })
    removeFormerStates(config, lost, logger)
    assert.deepEqual(left(), ['eth@2'])
    assert.throws(() => mustKnowStates(config, { chain: 'eth' }, lost), hasCode('diverged'))
    mustKnowStates(config, { chain: 'eth' }, of({ serving: { number: 2 } }))
  })
})
