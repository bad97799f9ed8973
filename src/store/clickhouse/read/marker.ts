import type { ChainHead } from '../../../domain/chain-head.ts'
import type { Ask } from './ask.ts'
import { number, optionalNumber, text } from './records.ts'

/** It reads one row, so a server that takes longer is as good as hung. */
const MAX_SECONDS = 2

/** The last committed head of a chain; undefined before the first batch. */
export async function readMarker(ask: Ask, chain: string): Promise<ChainHead | undefined> {
  const [row] = await ask('marker', { params: { chain }, maxRows: 1, maxSeconds: MAX_SECONDS })
  if (row === undefined) return undefined
  const startTime = optionalNumber(row, 'start_time')
  return {
    chain: text(row, 'chain'),
    seq: number(row, 'seq'),
    number: number(row, 'number'),
    hash: text(row, 'hash'),
    time: number(row, 'time'),
    ...(startTime === undefined ? {} : { startTime }),
    finalNumber: number(row, 'final_number'),
    position: {
      epoch: text(row, 'log_epoch'),
      sequence: number(row, 'log_seq'),
      link: number(row, 'log_link'),
    },
  }
}
