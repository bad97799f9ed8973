import { join } from 'node:path'
import type { ChainConfig, Config } from '../../config/schema.ts'
import { storedName } from '../../domain/generation.ts'
import type { Common } from '../../lib/common.ts'
import type { Logs } from '../../log/connect.ts'
import { openBlockArchive } from '../../store/clickhouse/block-archive.ts'
import { openHistoryReader } from '../../store/clickhouse/read/history-reader.ts'
import { openStoredRows } from '../../store/clickhouse/read/stored-rows.ts'
import { openStoredDocuments } from '../../store/redis/stored-documents.ts'
import { STATE_FORMAT } from '../engine.ts'
import { initialSettings } from '../generation-settings.ts'
import { stateFolder } from '../state-snapshots.ts'
import { openNodeSource } from './node-source.ts'
import type { RunParts } from './run.ts'

const DAY_SECONDS = 86_400

export type OpenedParts = {
  /** For one chain; `scratch` is the name of the folder that its snapshot is unpacked into. */
  of(chain: string, scratch: string, common: Pick<Common, 'logger' | 'shutdown'>): Promise<RunParts>
}

/** Connects to all that is compared, for reading; closed with `common.shutdown`. */
export async function openParts(config: Config, logs: Logs, common: Common): Promise<OpenedParts> {
  const { shutdown } = common
  // First, because only this one can fail.
  const documents = await openStoredDocuments(config.redis, common)
  shutdown.onClose('stored documents', () => documents.close())
  const archive = openBlockArchive(config.clickhouse)
  shutdown.onClose('archive', () => archive.close())
  const history = openHistoryReader(config.clickhouse)
  shutdown.onClose('history', () => history.close())
  const rows = openStoredRows(config.clickhouse)
  shutdown.onClose('stored rows', () => rows.close())
  const expiredBefore: RunParts['expiredBefore'] = (table) => {
    const days = (config.clickhouse.retention_days as Readonly<Record<string, number | undefined>>)[table]
    return days === undefined ? undefined : Math.floor(Date.now() / 1_000) - days * DAY_SECONDS
  }
  return {
    of: async (chain, scratch, { logger, shutdown: { signal } }) => {
      const own = config.chains[chain] as ChainConfig
      const generation = (await logs.generations()).of(chain).serving
      const stored = storedName(chain, generation)
      const blocks = await logs.open('BLOCKS', chain)
      const settings = await initialSettings({ chain, generation }, own, blocks, archive)
      return {
        ...{
          chain,
          generation,
          stored,
          blocks,
          archive,
          rows,
          documents,
          expiredBefore,
          logger,
          signal,
          settings,
        },
        folder: stateFolder(config, 'engine', stored, STATE_FORMAT),
        scratch: join(config.data_dir, 'reconcile', scratch),
        marker: (name) => history.marker(name),
        source: openNodeSource(own, logger, signal),
        rules: { registry: settings.registry, isEvm: own.family === 'evm' },
      }
    },
  }
}
