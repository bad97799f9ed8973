import { EVM_PROTOCOLS } from '../../../src/dex/protocols.ts'
import {
  type Change,
  type ChangeSet,
  LIQUIDITY_KINDS,
  SWITCH_REASONS,
  type Token,
} from '../../../src/domain/change.ts'
import type { BlockEnvelope, Fact, RawLog } from '../../../src/domain/envelope.ts'
import type { ErrorCode } from '../../../src/domain/errors.ts'
import type { SimMarket } from '../../sim/engine/sim-market.ts'
import type { Occurrence } from '../builders/market-script.ts'

/** Complete by their types: a new kind does not compile until it is named here, and then has to occur. */
const CHANGES: Readonly<Record<Change['type'], true>> = {
  trade: true,
  candle: true,
  pair: true,
  token: true,
  liquidity: true,
  windows: true,
  switch: true,
  balance: true,
  contract: true,
  tradeRemoved: true,
  candleRemoved: true,
  pairRemoved: true,
  tokenRemoved: true,
  liquidityRemoved: true,
  windowsRemoved: true,
  contractRemoved: true,
  switchRemoved: true,
}
const FACTS: Readonly<Record<Fact['type'], true>> = {
  pool: true,
  poolState: true,
  token: true,
  launch: true,
  transfers: true,
  inspection: true,
  inspectionFailure: true,
  balance: true,
  nonCirculating: true,
}
const FATES: Readonly<Record<Extract<Occurrence, { type: 'message' }>['fate'], true>> = {
  apply: true,
  skip: true,
  unreadable: true,
  reject: true,
}
const CODES: readonly ErrorCode[] = ['broken_link', 'fork_below_final']
const INTERRUPTIONS = ['commit', 'restart', 'crash', 'abandon']
const LARGER = ['curve', 'balancer_v2', 'balancer_v3']
/** Cases that only some values lead to. */
const CASES = {
  'trade in a pool of more than two tokens': (change: Change) =>
    change.type === 'trade' && LARGER.includes(change.trade.amm) && change.trade.pair.length === 66,
  'window sum beyond its type': (change: Change) =>
    change.type === 'windows' && change.windows.lengths.some(({ buyUsd }) => buyUsd === undefined),
  'candle volume beyond its type': (change: Change) =>
    change.type === 'candle' && change.candle.usd !== undefined && change.candle.usd.volume === undefined,
  'windows of a token of several pairs': (change: Change) =>
    change.type === 'windows' && change.windows.pair === undefined,
  'negative balance': (change: Change) => change.type === 'balance' && change.balance.amountRaw < 0n,
  'token with a market cap': (change: Change) =>
    isToken(change, ({ marketCapUsd }) => (marketCapUsd ?? 0n) > 0n),
  'token with holders': (change: Change) => isToken(change, ({ holding }) => (holding?.holders ?? 0) > 0),
  'token with an origin': (change: Change) => isToken(change, ({ origin }) => origin !== undefined),
  'token with a launch': (change: Change) => isToken(change, ({ launch }) => launch?.priceUsd !== undefined),
  'token with a risk score': (change: Change) => isToken(change, ({ risk }) => risk !== undefined),
  'graduated token': (change: Change) =>
    isToken(change, ({ platform }) => platform?.graduatedAt !== undefined),
  'curve on its way': (change: Change) => isToken(change, ({ platform }) => (platform?.progressPpm ?? 0) > 0),
} satisfies Record<string, (change: Change) => boolean>

/** Counts what random scripts contain and lead to, so that a generator that lost a kind is noticed. */
export class ScriptCoverage {
  readonly #seen = new Set<string>()

  seeOccurrence(market: SimMarket, occurrence: Occurrence): void {
    if (occurrence.type === 'interruption') {
      this.#seen.add(`interruption ${occurrence.how}`)
      return
    }
    const { envelope, fate } = occurrence
    this.#seen.add(`fate ${fate}`)
    if (envelope.kind === 'block' && fate === 'apply') this.#seeBlock(market, envelope)
  }

  seeSets(sets: readonly ChangeSet[], codes: readonly ErrorCode[]): void {
    for (const code of codes) this.#seen.add(`code ${code}`)
    for (const { changes } of sets) for (const change of changes) this.#seeChange(change)
  }

  /** What never occurred. */
  missing(): string[] {
    const events = Object.entries(EVM_PROTOCOLS).flatMap(([protocol, { announcements, events }]) =>
      [...Object.keys(announcements), ...Object.keys(events)].map((topic) => `${protocol} ${topic}`),
    )
    const expected = [
      ...events,
      ...Object.keys(CHANGES).map((type) => `change ${type}`),
      ...Object.keys(FACTS).map((type) => `fact ${type}`),
      ...Object.keys(FATES).map((fate) => `fate ${fate}`),
      ...INTERRUPTIONS.map((how) => `interruption ${how}`),
      ...CODES.map((code) => `code ${code}`),
      ...LIQUIDITY_KINDS.map((kind) => `liquidity ${kind}`),
      ...SWITCH_REASONS.map((reason) => `switch ${reason}`),
      ...Object.keys(CASES),
    ]
    return expected.filter((name) => !this.#seen.has(name))
  }

  #seeBlock(market: SimMarket, { facts, transactions }: BlockEnvelope): void {
    for (const { type } of facts) this.#seen.add(`fact ${type}`)
    for (const { logs } of transactions) for (const log of logs) this.#seeLog(market, log)
  }

  /** Only events that their protocol's reader accepts count. */
  #seeLog({ pools }: SimMarket, log: RawLog): void {
    const topic = log.topics[0] ?? ''
    const speaker = pools.find(({ address, factory }) => log.address === address || log.address === factory)
    const protocol = speaker && EVM_PROTOCOLS[speaker.protocol]
    const read = protocol?.events[topic] ?? protocol?.announcements[topic]
    if (read?.(log) !== undefined) this.#seen.add(`${speaker?.protocol} ${topic}`)
  }

  #seeChange(change: Change): void {
    this.#seen.add(`change ${change.type}`)
    if (change.type === 'liquidity') this.#seen.add(`liquidity ${change.liquidity.kind}`)
    if (change.type === 'switch') this.#seen.add(`switch ${change.switch.reason}`)
    for (const [name, holds] of Object.entries(CASES)) if (holds(change)) this.#seen.add(name)
  }
}

function isToken(change: Change, holds: (token: Token) => boolean): boolean {
  return change.type === 'token' && holds(change.token)
}
