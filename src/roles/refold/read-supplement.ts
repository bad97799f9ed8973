import { Multicall } from '../../chain/evm/rpc/multicall.ts'
import { createEvmRpc } from '../../chain/evm/rpc/rpc.ts'
import { createEvmSource } from '../../chain/evm/source.ts'
import type { EvmChainConfig } from '../../config/schema.ts'
import { type Generation, storedName, supplementName } from '../../domain/generation.ts'
import { MissingDexes, type SettingsAt } from '../../domain/missing-dexes.ts'
import type { Logger } from '../../lib/logger.ts'
import { Progress } from '../../lib/progress.ts'
import { chainNode, createWaiting } from '../../lib/waiting.ts'
import type { ChainLog } from '../../log/chain-log.ts'
import type { Generations } from '../../log/generations.ts'
import type { BlockArchive } from '../../store/clickhouse/block-archive.ts'
import { completeSupplement, mustRead } from './start-refold.ts'
import { SupplementReader } from './supplement-reader.ts'

export type ReadSupplementParts = {
  readonly chain: string
  readonly building: Generation
  readonly settings: readonly SettingsAt[]
  readonly blocks: Pick<ChainLog, 'epoch'>
  readonly archive: BlockArchive
  readonly generations: Generations
  readonly note: (line: string) => void
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** Reads the supplement of a generation from the nodes, and lets engines fold it; undefined if the signal aborts. */
export async function readSupplement(
  config: EvmChainConfig,
  parts: ReadSupplementParts,
): Promise<Generation | undefined> {
  const { chain, building, settings, blocks, archive, generations, note, logger, signal } = parts
  const { supplement = { attempt: 1 }, settingsAt = 0 } = building
  const missing = new MissingDexes(settings.filter(({ sequence }) => sequence <= settingsAt))
  const nodes = createEvmRpc({
    urls: config.rpc_urls,
    http: { timeoutMs: config.rpc_timeout_ms },
    chainId: config.chain_id,
    metrics: { answered: () => undefined, up: () => undefined },
    logger,
    signal,
  })
  const { finality_depth: finalityDepth, receipts_root: receiptsRoot } = config
  const { gas, answer_bytes: answerBytes } = config.calls
  const names = Array.from({ length: supplement.attempt }, (_, index) =>
    supplementName(storedName(chain, building), { attempt: index + 1 }),
  )
  const amms = [...missing.all.keys()].map(({ amm }) => amm).join(', ')
  note(`${chain}: reading the blocks with logs of ${amms} from the nodes`)
  const reader = new SupplementReader({
    ...{ chain, archive, missing, settingsAt, nodes, note, logger, signal },
    epoch: blocks.epoch,
    name: names.at(-1) as string,
    earlier: names.slice(0, -1),
    source: createEvmSource(nodes, { finalityDepth, receiptsRoot }),
    asker: new Multicall(nodes, { gas, answerBytes }),
    native: config.native,
    width: config.read_ahead_blocks,
    mustRead: () => mustRead(chain, generations.of(chain), building),
    waiting: createWaiting(logger, chainNode(chain, config.rpc_urls)),
    progress: new Progress(`${chain}: blocks`, logger.child({}, { level: 'info' })),
  })
  const until = await reader.run().catch((error: unknown) => {
    if (signal.aborted) return undefined
    throw error
  })
  if (until === undefined) return undefined
  note(`${chain}: ${reader.blocksRead} blocks read`)
  return completeSupplement(chain, generations, building, until)
}
