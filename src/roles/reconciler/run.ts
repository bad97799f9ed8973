import { DifferenceList, type Reconciliation } from '../../domain/reconciliation.ts'
import { type BlockSampleParts, reconcileBlocks } from './reconcile-blocks.ts'
import { type ReconcileParts, reconcileStretch, type Stretch } from './reconcile-chain.ts'

export type RunParts = ReconcileParts & Omit<BlockSampleParts, 'epoch'>

export type RunOptions = Stretch & {
  /** Blocks that are read from a node again, at most. */
  readonly nodeBlocks: number
  /** Decides which. */
  readonly seed: string
}

/** One run for a chain: random blocks against a node, then a stretch of the archive against the stores. */
export async function reconcileChain(parts: RunParts, options: RunOptions): Promise<Reconciliation> {
  const differences = new DifferenceList()
  const sample = { seed: options.seed, count: options.nodeBlocks }
  const nodeBlocks = await reconcileBlocks({ ...parts, epoch: parts.blocks.epoch }, sample, differences)
  const stretch = await reconcileStretch(parts, options, differences)
  const at = Math.floor(Date.now() / 1_000)
  const { counts, examples } = differences
  return { at, ...stretch, nodeBlocks, differences: counts, examples }
}

/** For a log line or a terminal. */
export function totalOf({ differences }: Pick<Reconciliation, 'differences'>): number {
  return Object.values(differences).reduce((sum, count) => sum + count, 0)
}
