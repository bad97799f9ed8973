import type { ChainConfig } from '../config/schema.ts'
import { FIRST_RULES } from '../domain/chain-settings.ts'
import { ChaintapeError } from '../domain/errors.ts'
import type { FoldedChain } from '../domain/generation.ts'
import { type EngineSettings, engineSettings } from '../engine/settings.ts'
import type { ChainLog } from '../log/chain-log.ts'
import type { BlockArchive } from '../store/clickhouse/block-archive.ts'
import { decodeEnvelope } from '../wire/envelope-codec.ts'
import { chainSettings } from './chain-settings.ts'

/**
 * The settings that a generation begins with: those at its place in BLOCKS, otherwise those of the configuration. Blocks
 * before the first settings were published by the first release, so they are folded by its rules.
 */
export async function initialSettings(
  { chain, generation: { settingsAt } }: FoldedChain,
  config: ChainConfig,
  blocks: Pick<ChainLog, 'epoch' | 'messageAt'>,
  archive: Pick<BlockArchive, 'messageAt'>,
): Promise<EngineSettings> {
  if (settingsAt === undefined) return engineSettings(chain, { ...chainSettings(config), rules: FIRST_RULES })
  const message =
    (await blocks.messageAt(settingsAt)) ?? (await archive.messageAt(chain, blocks.epoch, settingsAt))
  const envelope = message && decodeEnvelope(message.body)
  if (envelope?.kind === 'settings') return engineSettings(chain, envelope.settings)
  throw new ChaintapeError(
    'log_truncated',
    `message ${settingsAt} of BLOCKS of ${chain}, with the settings of this generation, is neither in the log nor in the archive`,
  )
}
