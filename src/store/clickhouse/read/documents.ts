import type { Pair, Token, Windows } from '../../../domain/change.ts'
import type { ContractReport } from '../../../domain/contract-report.ts'
import type { ChainAddress } from '../../../domain/ids.ts'
import { ALMOST_PPM } from '../../../domain/launch.ts'
import type { DocumentReads } from '../../document-reads.ts'
import type { Versioned } from '../../versioned.ts'
import { reportOf } from '../report-text.ts'
import type { Ask } from './ask.ts'
import { Gathering } from './gathering.ts'
import { number, pairOf, type Row, text, tokenOf, windowsOf } from './records.ts'

const MAX_SECONDS = 5
/** Per query; more are read in further queries. */
const MAX_IDS = 1_000

type Kind<T> = {
  readonly file: string
  readonly key: string
  readonly params: Readonly<Record<string, string>>
  readonly read: (row: Row) => T
}

const PAIRS: Kind<Pair> = { file: 'documents-of-pairs', key: 'address', params: {}, read: pairOf }
const TOKENS: Kind<Token> = { file: 'documents-of-tokens', key: 'address', params: {}, read: tokenOf }
const CONTRACTS: Kind<ContractReport> = {
  file: 'documents-of-contracts',
  key: 'token',
  params: {},
  read: (row) => reportOf(text(row, 'report')),
}
const windowsOfKind = (kind: 'pair' | 'token'): Kind<Windows> => ({
  file: 'documents-of-windows',
  key: 'id',
  params: { kind },
  read: windowsOf,
})
const WINDOWS = { pair: windowsOfKind('pair'), token: windowsOfKind('token') }

/** The latest documents in ClickHouse, for use while Redis is unavailable. */
export function createDocuments(ask: Ask): DocumentReads {
  const readMany = <T>({ file, key, params, read }: Kind<T>) => {
    const gatherings = new Map<string, Gathering<Versioned<T>>>()
    const gatheringOf = (chain: string): Gathering<Versioned<T>> => {
      const known = gatherings.get(chain)
      if (known !== undefined) return known
      const gathering = new Gathering<Versioned<T>>(MAX_IDS, async (ids) => {
        const rows = await ask(file, {
          params: { ...params, chain, ids },
          maxRows: ids.length,
          maxSeconds: MAX_SECONDS,
        })
        const existing = rows.filter((row) => number(row, 'is_deleted') === 0)
        return new Map(
          existing.map((row) => [text(row, key), { seq: number(row, 'seq'), record: read(row) }]),
        )
      })
      gatherings.set(chain, gathering)
      return gathering
    }
    return (refs: readonly ChainAddress[]): Promise<(Versioned<T> | undefined)[]> =>
      Promise.all(refs.map(({ chain, address }) => gatheringOf(chain).get(address)))
  }
  const windows = { pair: readMany(WINDOWS.pair), token: readMany(WINDOWS.token) }
  const addresses = async (
    file: string,
    params: Record<string, unknown>,
    limit: number,
  ): Promise<string[]> => {
    if (limit < 1) return []
    const rows = await ask(file, { params: { ...params, limit }, maxRows: limit, maxSeconds: MAX_SECONDS })
    return rows.map((row) => text(row, 'address'))
  }
  return {
    pairs: readMany(PAIRS),
    tokens: readMany(TOKENS),
    contracts: readMany(CONTRACTS),
    windows: async (refs) => (await Promise.all(refs.map((ref) => windows[ref.kind]([ref])))).flat(),
    topPairs: (chain, token, limit) => addresses('top-pairs', { chain, token }, limit),
    topTokens: (chain, rank, limit) => addresses('top-tokens', { chain, ...rankParams(rank) }, limit),
  }
}

/** `<group>/<rank>`, where the group is `meme`, `<platform>_in` or `<platform>_out`; or a rank of all tokens. */
function rankParams(rank: string): Record<string, unknown> {
  const [, group, by = rank] = /^(.+)\/([^/]+)$/.exec(rank) ?? []
  const [, platform = '', end] = /^(.+)_(in|out)$/.exec(group ?? '') ?? []
  return {
    by,
    platform,
    is_launched: group === undefined ? 0 : 1,
    is_in: end === 'in' ? 1 : 0,
    almost_ppm: ALMOST_PPM,
  }
}
