import type { JournaledState, RecordCodec, Table } from '../../state/journaled-state.ts'
import { readWindows, writeWindows } from '../../wire/windows-codec.ts'
import {
  type Contribution,
  readContribution,
  readVisit,
  type Visit,
  writeContribution,
  writeVisit,
} from './contribution.ts'
import { type Extremes, readExtremes, writeExtremes } from './extremes.ts'
import {
  type Distinct,
  type LastVisits,
  readDistinct,
  readLastVisits,
  writeDistinct,
  writeLastVisits,
} from './makers.ts'
import type { ExactWindows } from './windows.ts'

export type WindowTables = {
  /** By whose they are: see `subjectOf`. */
  readonly windows: Table<ExactWindows>
  readonly extremes: Table<Extremes>
  /** By token. */
  readonly tradedIn: Table<TradedIn>
  /** By token and wallet. */
  readonly lastVisits: Table<LastVisits>
  /** By whose they are and minute: how many wallets traded last in that minute. */
  readonly lasting: Table<Distinct>
  readonly openMinute: Table<OpenMinute>
  /** By block number, for those of the minute that is still open. */
  readonly blockTrades: Table<BlockTrades>
  /** By minute, for those of the last day that are over. */
  readonly minuteSums: Table<readonly Contribution[]>
  readonly minuteVisits: Table<readonly Visit[]>
}

export type BlockTrades = { readonly sums: readonly Contribution[]; readonly visits: readonly Visit[] }

/** The minute the chain has reached, and its blocks with trades. */
export type OpenMinute = { readonly minute: number; readonly blocks: readonly number[] }

/** The only pair a token was ever traded in, or `SEVERAL`, and the minute of its first trade. */
export type TradedIn = { readonly pair: string; readonly since: number }

export const SEVERAL = ''

/** A day of them, decoded, would be most of the engine's memory, and each is read six times in all. */
const MAX_LISTS = 8

/** As in the log; exact sums are never unknown. */
export const windowsCodec: RecordCodec<ExactWindows> = {
  write: writeWindows,
  read: (r) => readWindows(r) as ExactWindows,
}

const sumsCodec: RecordCodec<readonly Contribution[]> = {
  write: (w, sums) => w.list(sums, (contribution) => writeContribution(w, contribution)),
  read: (r) => r.list(() => readContribution(r)),
}

const visitsCodec: RecordCodec<readonly Visit[]> = {
  write: (w, visits) => w.list(visits, (visit) => writeVisit(w, visit)),
  read: (r) => r.list(() => readVisit(r)),
}

const blockTradesCodec: RecordCodec<BlockTrades> = {
  write: (w, { sums, visits }) => {
    sumsCodec.write(w, sums)
    visitsCodec.write(w, visits)
  },
  read: (r) => ({ sums: sumsCodec.read(r), visits: visitsCodec.read(r) }),
}

const tradedInCodec: RecordCodec<TradedIn> = {
  write: (w, { pair, since }) => {
    w.recurringId(pair)
    w.varuint(since)
  },
  read: (r) => ({ pair: r.recurringId(), since: r.varuint() }),
}

const openMinuteCodec: RecordCodec<OpenMinute> = {
  write: (w, { minute, blocks }) => {
    w.varuint(minute)
    w.list(blocks, (block) => w.varuint(block))
  },
  read: (r) => ({ minute: r.varuint(), blocks: r.list(() => r.varuint()) }),
}

export function openWindowTables(state: JournaledState): WindowTables {
  return {
    windows: state.table('windows', windowsCodec),
    extremes: state.table('extremes', { write: writeExtremes, read: readExtremes }),
    tradedIn: state.table('tradedIn', tradedInCodec),
    lastVisits: state.table('visits', { write: writeLastVisits, read: readLastVisits }),
    lasting: state.table('lasting', { write: writeDistinct, read: readDistinct }),
    openMinute: state.table('openMinute', openMinuteCodec),
    blockTrades: state.table('blockTrades', blockTradesCodec, MAX_LISTS),
    minuteSums: state.table('minuteSums', sumsCodec, MAX_LISTS),
    minuteVisits: state.table('minuteVisits', visitsCodec, MAX_LISTS),
  }
}
