import type { ChainLog } from '../../../log/chain-log.ts'

export type ReplayedLog = Pick<ChainLog, 'epoch' | 'locate' | 'read' | 'lastSequence' | 'positionWhere'>

/** The logs of the generations of each chain. */
export type ReplayedLogs = {
  /** The log of the served one. */
  get(chain: string): ReplayedLog | undefined
  /** The log with this epoch, if its generation still exists. */
  ofEpoch(chain: string, epoch: string): Promise<ReplayedLog | undefined>
}
