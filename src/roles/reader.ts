import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Doorbell } from '../chain/doorbell.ts'
import { askAccounts } from '../chain/evm/facts/accounts.ts'
import { EvmFacts } from '../chain/evm/facts/facts.ts'
import { TransferHistory } from '../chain/evm/facts/transfer-history.ts'
import { Inspections } from '../chain/evm/inspect/inspections.ts'
import { Multicall } from '../chain/evm/rpc/multicall.ts'
import { watchNewHeads } from '../chain/evm/rpc/new-heads.ts'
import { createEvmRpc } from '../chain/evm/rpc/rpc.ts'
import { createEvmSource } from '../chain/evm/source.ts'
import { firstBlockAt } from '../chain/first-block-at.ts'
import { Reader, type ReaderParts } from '../chain/reader.ts'
import { ReaderIndex } from '../chain/reader-index.ts'
import type { ChainSource } from '../chain/source.ts'
import type { ChainConfig } from '../config/schema.ts'
import { parseStartDate } from '../config/start-date.ts'
import type { Envelope } from '../domain/envelope.ts'
import { ChaintapeError } from '../domain/errors.ts'
import type { Common } from '../lib/common.ts'
import { Progress } from '../lib/progress.ts'
import { chainNode, createWaiting, retryUntilAvailable } from '../lib/waiting.ts'
import { openOutbox } from '../store/lmdb/outbox.ts'
import { openStateStore } from '../store/lmdb/state-store.ts'
import { ACCOUNTS_TOPIC, decodeAccountsQuestion, encodeAccountsAnswer } from '../wire/account-question.ts'
import { createRegistry } from './dex-registry.ts'
import { lockFolder } from './lock-folder.ts'
import { type ChainRun, startPerChain } from './per-chain.ts'
import { createReaderMetrics, type ReaderMetrics, rpcMetrics } from './reader/metrics.ts'
import { takeTurns } from './reader/take-turns.ts'
import type { StartRole } from './role.ts'

/** Version of the index layout. An index of another version has to be deleted, and is rebuilt from the log. */
export const INDEX_FORMAT = 'reader-2'

const REPORT_EVERY_MS = 1_000

export const startReader: StartRole = async (config, common) => {
  const metrics = createReaderMetrics(common)
  return startPerChain('reader', config, common, (run) =>
    readChain(run, join(config.data_dir, 'reader', run.chain), config.reader.takeover_ms, metrics),
  )
}

async function readChain(
  { chain, config, logs, common, onCaughtUp, observeLag }: ChainRun,
  dir: string,
  takeoverMs: number,
  metrics: ReaderMetrics,
): Promise<void> {
  const { logger } = common
  const { signal } = common.shutdown
  const lock = lockFolder(dir)
  common.shutdown.onClose(`lock on the reader index of ${chain}`, () => lock.release())
  const outbox = openOutbox(join(dir, 'outbox'))
  common.shutdown.onClose(`reader outbox of ${chain}`, () => outbox.close())
  const log = await logs.open('BLOCKS', chain, outbox)
  const store = openStateStore({ dir, format: INDEX_FORMAT })
  common.shutdown.onClose(`reader index of ${chain}`, () => store.close())
  const index = new ReaderIndex(store)

  const rpc = createEvmRpc({
    urls: config.rpc_urls,
    http: { timeoutMs: config.rpc_timeout_ms },
    chainId: config.chain_id,
    logger,
    signal,
    metrics: rpcMetrics(metrics, chain),
  })
  const untilAnswered = createUntilAnswered(chain, config, common)
  await expectChainId(rpc.chainId, config.chain_id, chain, untilAnswered)
  const progress = new Progress(`${chain}: blocks`, logger)
  common.shutdown.onClose('progress', () => progress.end())
  const source = createEvmSource(rpc, {
    finalityDepth: config.finality_depth,
    receiptsRoot: config.receipts_root,
  })
  const doorbell = new Doorbell()
  watchNewHeads({
    urls: config.ws_urls ?? [],
    logger,
    signal,
    onHead: () => doorbell.ring(),
    onUp: (endpoint, isUp) => metrics.newHeadsUp.set({ chain, endpoint }, isUp ? 1 : 0),
  })
  const { gas, answer_bytes: answerBytes } = config.calls
  const asker = new Multicall(rpc, { gas, answerBytes })
  const wrappedNative = wrappedNativeOf(config)
  const registry = createRegistry(config)
  const facts = new EvmFacts(asker, registry, config.native, wrappedNative, config.lockers)
  const history = new TransferHistory({
    nodes: rpc,
    queue: index.histories,
    hashAt: (number) => index.hashAt(number),
    wrappedNative,
    logger,
    signal,
  })
  const inspections = new Inspections({
    nodes: rpc,
    queue: index.inspections,
    knowsToken: (token) => index.knowsToken(token),
    trialIn: (factory) => registry.deploymentOf(factory, index.tip?.number ?? 0)?.is.trial,
    onFailure: () => metrics.droppedFacts.inc({ chain, type: 'inspection' }),
    logger,
    signal,
  })
  void (await logs.openLatest('WORK')).watch({
    signal,
    onValue: ({ name }) => {
      const [of, kind, token] = name.split('.')
      if (of === chain && kind === 'inspect' && token !== undefined) inspections.want(token)
    },
    onCurrent: () => undefined,
  })
  const answering = logs.respond(`${ACCOUNTS_TOPIC}.${chain}`, async (question) =>
    encodeAccountsAnswer(await askAccounts(rpc, decodeAccountsQuestion(question))),
  )
  common.shutdown.onClose('answers about accounts', () => answering.stop())
  const background = [history, inspections]
  const report = (tip: number | undefined, lagBlocks: number): void => {
    if (tip !== undefined) metrics.tip.set({ chain }, tip)
    metrics.lag.set({ chain }, lagBlocks)
    const secondsLeft = lagBlocks === 0 ? 0 : progress.secondsLeft
    if (secondsLeft !== undefined) metrics.secondsLeft.set({ chain }, secondsLeft)
  }
  let reportedAt = 0
  /** Reports progress during a long catch-up, because `onProgress` is called only at the head. */
  const onBlock: ReaderParts['onBlock'] = ({ number, head }) => {
    progress.update(number, head)
    if (Date.now() - reportedAt < REPORT_EVERY_MS) return
    reportedAt = Date.now()
    report(number, head - number)
  }
  const onProgress: ReaderParts['onProgress'] = ({ tip, lagBlocks }) => {
    report(tip?.number, lagBlocks)
    metrics.openHistories.set({ chain }, index.histories.length)
    observeLag((tip?.number ?? 0) + lagBlocks, () => tip?.number ?? 0)
    if (lagBlocks === 0) onCaughtUp()
  }
  const turns = {
    ...{ chain, log, index, store, logger, signal, doorbell, takeoverMs, onProgress },
    head: () => source.head(),
    pollMs: config.poll_ms,
    onTurn: (turn: string) => {
      metrics.leads.set({ chain }, turn === 'follows' ? 0 : 1)
      if (turn === 'stalled') metrics.takeovers.inc({ chain })
    },
    onFollowed: (envelope: Envelope) => inspections.follow(envelope),
  }
  await takeTurns(turns, async (appender) => {
    for (const each of background) each.forget()
    await new Reader({
      chain,
      source,
      index,
      gather: (...block) => facts.gather(...block),
      askAhead: (...block) => facts.askAhead(...block),
      background,
      append: async (envelope) => {
        await appender.append(envelope)
        metrics.appended.inc({ chain, kind: envelope.kind })
      },
      flush: () => appender.flush(),
      // An existing log continues at its end, whatever the configured start.
      startBlock: index.floor === undefined ? await findStart(source, config, common, untilAnswered) : 0,
      readAheadBlocks: config.read_ahead_blocks,
      pollMs: config.poll_ms,
      doorbell,
      onDroppedFact: ({ type }) => metrics.droppedFacts.inc({ chain, type }),
      logger,
      signal,
      onBlock,
      onProgress,
    }).run()
  })
}

function wrappedNativeOf({ quote_assets }: ChainConfig): ReadonlySet<string> {
  return new Set(quote_assets.filter(({ kind }) => kind === 'native').map(({ address }) => address))
}

async function findStart(
  source: ChainSource,
  config: ChainConfig,
  common: Common,
  untilAnswered: UntilAnswered,
): Promise<number> {
  const { start_date, start_block } = config
  const time = start_date === undefined ? undefined : parseStartDate(start_date)
  if (time === undefined) return start_block
  const { logger, shutdown } = common
  let isLogged = false
  for (;;) {
    const found = await untilAnswered(() => firstBlockAt(source, time))
    if (found !== undefined) {
      logger.info({ start_date, start_block: found }, 'First block found')
      return found
    }
    if (!isLogged) logger.info({ start_date }, 'Waiting for the chain to reach its start date')
    isLogged = true
    await sleep(config.poll_ms, undefined, { signal: shutdown.signal })
  }
}

/** An endpoint of the wrong chain would fill the log with another chain's blocks. */
async function expectChainId(
  ask: () => Promise<number>,
  expected: number,
  chain: string,
  untilAnswered: UntilAnswered,
): Promise<void> {
  const actual = await untilAnswered(ask)
  if (actual !== expected) {
    throw new ChaintapeError(
      'config_invalid',
      `chains.${chain}: the node serves chain ${actual}, not ${expected}`,
    )
  }
}

type UntilAnswered = <T>(ask: () => Promise<T>) => Promise<T>

function createUntilAnswered(
  chain: string,
  config: ChainConfig,
  { shutdown, logger }: Common,
): UntilAnswered {
  const waiting = createWaiting(logger, chainNode(chain, config.rpc_urls))
  return (ask) =>
    retryUntilAvailable(ask, waiting, {
      signal: shutdown.signal,
      isRetryable: (error) => error instanceof ChaintapeError && error.retryable,
    })
}
