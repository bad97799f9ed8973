import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load, minimal, solanaChain } from '../../test/support/builders/config-file.ts'

test('a platform needs the row of its program', () => {
  const factory = '11111111111111111111111111111111'
  const program = { amm: 'launchlab', protocol: 'raydium_launchlab', factory }
  const platform = {
    ...program,
    amm: 'letsbonk',
    platform_config: 'So11111111111111111111111111111111111111112',
  }
  const loading = (...dexes: object[]) =>
    load({ ...minimal, chains: { sol: { ...solanaChain, dexes } } }).chains['sol']
  assert.deepEqual(loading(platform, program)?.dexes, [platform, program])
  assert.throws(() => loading(platform), /sol\.dexes\.0\.platform_config needs a row of the same factory/)
  assert.throws(
    () => loading({ ...program, protocol: 'raydium_cpmm' }, platform),
    /dexes\.1\.platform_config/,
  )
})
