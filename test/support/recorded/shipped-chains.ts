import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../../src/config/load.ts'
import type { Config } from '../../../src/config/schema.ts'

/** Chains with their default configuration and only a node configured. */
export function shippedChains(names: readonly string[]): Config['chains'] {
  const dir = mkdtempSync(join(tmpdir(), 'chaintape-chains-'))
  try {
    const file = join(dir, 'chaintape.yaml')
    const chains = names.map((name) => `  ${name}: { rpc_urls: ["http://127.0.0.1:1"] }`)
    writeFileSync(file, `chains:\n${chains.join('\n')}\n`)
    return loadConfig(file, {}).chains
  } finally {
    rmSync(dir, { recursive: true })
  }
}
