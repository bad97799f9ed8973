import { createClient } from '@clickhouse/client'
import type { ChainConfig, Config } from '../../src/config/schema.ts'
import { type Generation, storedName } from '../../src/domain/generation.ts'
import { Engine } from '../../src/engine/engine.ts'
import type { Logs } from '../../src/log/connect.ts'
import { initialSettings } from '../../src/roles/generation-settings.ts'
import { readGeneration } from '../../src/roles/read-generation.ts'
import type { Stack } from '../../src/sandbox/servers/stack.ts'
import { openBlockArchive } from '../../src/store/clickhouse/block-archive.ts'
import { openHistoryStore } from '../../src/store/clickhouse/history-store.ts'
import { rowsOf } from '../../src/store/clickhouse/rows.ts'
import { TABLE_NAMES } from '../../src/store/clickhouse/table-names.ts'
import { latestChanges } from '../../src/store/latest-changes.ts'
import { indexChangeSet } from '../../src/wire/change-index.ts'
import { memoryStore } from '../support/rigs/engine-run.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'
import { waitFor } from '../support/rigs/wait-for.ts'

const WRITTEN_MS = 120_000

type Rows = Record<string, unknown[]>

/** Folds a chain in this process, from the first block on, to compare its generations with the result. */
export class FreshFold {
  readonly #common = createTestCommon()
  readonly #stack: Stack
  readonly #config: Config
  readonly #logs: Logs
  readonly #chain: string

  constructor(stack: Stack, config: Config, logs: Logs, chain: string) {
    this.#stack = stack
    this.#config = config
    this.#logs = logs
    this.#chain = chain
  }

  /** Resolves once the rows of a generation are written up to a message of BLOCKS. */
  async written(generation: Generation, seq: number): Promise<void> {
    const history = openHistoryStore(this.#config.clickhouse, this.#common)
    const name = storedName(this.#chain, generation)
    try {
      const look = async (): Promise<true | undefined> =>
        ((await history.marker(name))?.seq ?? 0) >= seq ? true : undefined
      await waitFor(`${name} to be written up to ${seq}`, look, WRITTEN_MS)
    } finally {
      await history.close()
    }
  }

  /** Writes the rows under a name of their own, and returns the change sets. */
  async fold(generation: Generation, until: number, name: string): Promise<Uint8Array[]> {
    const history = openHistoryStore(this.#config.clickhouse, this.#common)
    try {
      const sets = await Array.fromAsync(this.changeSets(generation, until))
      await history.write(rowsOf(latestChanges(sets.map((set) => ({ ...indexChangeSet(set), chain: name })))))
      return sets
    } finally {
      await history.close()
    }
  }

  /** The change set of each message of BLOCKS. */
  async *changeSets(generation: Generation, until: number): AsyncGenerator<Uint8Array, void, undefined> {
    const blocks = await this.#logs.open('BLOCKS', this.#chain)
    const archive = openBlockArchive(this.#config.clickhouse)
    try {
      const own = this.#config.chains[this.#chain] as ChainConfig
      const initial = await initialSettings({ chain: this.#chain, generation }, own, blocks, archive)
      const engine = new Engine(initial, memoryStore(), generation)
      const { logger, shutdown } = this.#common
      const parts = { chain: this.#chain, generation, log: blocks, archive, logger }
      const range = { after: undefined, signal: shutdown.signal, until }
      for await (const { body, position } of readGeneration(parts, range)) {
        yield engine.apply(body, position.sequence).slice()
      }
    } finally {
      await archive.close()
    }
  }

  async rowsIn(name: string): Promise<Rows> {
    const { database } = this.#config.clickhouse
    const client = createClient({ url: this.#stack.clickhouseUrl, database })
    try {
      const rows: Rows = {}
      for (const table of TABLE_NAMES) {
        const query = `SELECT * EXCEPT chain FROM ${table} FINAL WHERE chain = {name:String} ORDER BY ALL`
        const answer = await client.query({ query, query_params: { name }, format: 'JSONEachRow' })
        rows[table] = await answer.json()
      }
      return rows
    } finally {
      await client.close()
    }
  }
}
