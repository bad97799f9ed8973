import { Redis } from 'ioredis'
import type { ChainHead } from '../../../src/domain/chain-head.ts'
import type { ChangeSet } from '../../../src/domain/change.ts'
import { startStack } from '../../../src/sandbox/servers/stack.ts'
import { openBlockArchive } from '../../../src/store/clickhouse/block-archive.ts'
import { openHistoryStore } from '../../../src/store/clickhouse/history-store.ts'
import { migrate } from '../../../src/store/clickhouse/migrate.ts'
import { openHotStore } from '../../../src/store/redis/hot-store.ts'
import { encodeEnvelope } from '../../../src/wire/envelope-codec.ts'
import { buildCandle, Dice } from '../builders/change-builders.ts'
import { latestOf, rowsOfSets } from '../reference/rows-of-sets.ts'
import { EngineRun } from '../rigs/engine-run.ts'
import { createTestCommon } from '../rigs/test-common.ts'
import type { Corpus } from './corpus.ts'
import { storyWithContracts } from './record-messages.ts'
import { RECORDED_DATABASE, readTables } from './recorded-clickhouse.ts'
import { engineSettingsOf, type RecordedMarket } from './recorded-markets.ts'
import { type DocumentIds, idsOf, type RecordedKey, readDocuments, readKeys } from './recorded-redis.ts'

export const RECORDED_PREFIX = 'recorded'

export type RecordedRedis = {
  readonly keys: readonly RecordedKey[]
  readonly chains: readonly { readonly ids: DocumentIds; readonly documents: unknown }[]
}

const SOLANA_SETS = 12
const ARCHIVED = 20

/** Two chains of both families, in real servers. */
export async function recordStores(corpus: Corpus, markets: readonly RecordedMarket[]): Promise<void> {
  const stack = await startStack({ services: ['redis', 'clickhouse'] })
  try {
    const chains = [withManyCandles(storyWithContracts()), solanaSets(markets)]
    await recordRedis(corpus, stack.redisUrl, chains)
    await recordClickhouse(corpus, stack.clickhouseUrl, chains, markets)
  } finally {
    await stack.stop()
  }
}

/** More candles of one series than its tail holds, so that some are packed. */
function withManyCandles(sets: readonly ChangeSet[]): ChangeSet[] {
  const dice = new Dice(96)
  const last = sets.at(-1) as ChangeSet
  const pair = idsOf(last.chain, sets).pairs[0] as string
  const more = Array.from({ length: 80 }, (_, at): ChangeSet => {
    const key = { block: at, tx: 0, log: 0 }
    const candle = buildCandle(dice, pair, 'k1', key, 1_761_960_000 + at * 60)
    return { ...last, seq: last.seq + 1 + at, changes: [{ type: 'candle', candle }] }
  })
  return [...sets, ...more]
}

function solanaSets(markets: readonly RecordedMarket[]): ChangeSet[] {
  const { settings, envelopes } = markets.find(({ family }) => family === 'solana') as RecordedMarket
  const run = new EngineRun(engineSettingsOf(settings))
  return envelopes.slice(0, SOLANA_SETS).map((envelope) => run.apply(envelope))
}

function headOf({ chain, seq, head, finalNumber }: ChangeSet): ChainHead {
  return { chain, seq, ...head, finalNumber, position: { epoch: 'e', sequence: seq, link: 1 } }
}

async function recordRedis(
  corpus: Corpus,
  url: string,
  chains: readonly (readonly ChangeSet[])[],
): Promise<void> {
  const hot = await openHotStore({ url, prefix: RECORDED_PREFIX }, createTestCommon())
  const redis = new Redis(url)
  try {
    const recorded = []
    for (const sets of chains) {
      for (const set of sets) await hot.apply(latestOf([set]), headOf(set))
      const ids = idsOf((sets[0] as ChangeSet).chain, sets)
      recorded.push({ ids, documents: await readDocuments(hot, ids) })
    }
    corpus.write('redis', { keys: await readKeys(redis, RECORDED_PREFIX), chains: recorded })
  } finally {
    redis.disconnect()
    await hot.close()
  }
}

async function recordClickhouse(
  corpus: Corpus,
  url: string,
  chains: readonly (readonly ChangeSet[])[],
  [market]: readonly RecordedMarket[],
): Promise<void> {
  const common = createTestCommon()
  const options = { url, database: RECORDED_DATABASE, username: 'default', password: '' }
  await migrate(options, common)
  const history = openHistoryStore(options, common)
  const archive = openBlockArchive(options)
  try {
    for (const sets of chains) {
      await history.write(rowsOfSets(sets))
      await history.commit(headOf(sets.at(-1) as ChangeSet))
    }
    const messages = (market as RecordedMarket).envelopes.slice(0, ARCHIVED).map((envelope, at) => ({
      body: encodeEnvelope(envelope),
      position: { epoch: 'e', sequence: at + 1, link: at },
      previousSequence: at,
      ...{ kind: envelope.kind, number: at, hash: `0x${at}`, time: 1_700_000_000 + at },
    }))
    await archive.write('eth', messages)
    await archive.commit('eth', { epoch: 'e', sequence: ARCHIVED, link: ARCHIVED - 1 })
    corpus.write('clickhouse', { tables: await readTables(url) })
  } finally {
    await Promise.all([history.close(), archive.close()])
  }
}
