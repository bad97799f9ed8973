import { INTERVALS } from '../../src/domain/interval.ts'
import { TOPIC_NAMES } from '../../src/gateway/ws/topic.ts'
import type { World } from '../contract/world.ts'
import type { Random } from './random.ts'
import { HOSTILE_TEXTS, idLike, strangeJson } from './rest-values.ts'
import { bomb, otherwiseWritten } from './ws-texts.ts'

/** What requests speak of. */
export type WsTarget = Pick<World, 'names' | 'keys'> & {
  /** Cursors of real pushes. */
  readonly cursors: readonly string[]
}

export type Message = {
  readonly payload: Buffer
  readonly isBinary: boolean
  /** Nothing is wrong with it. */
  readonly isSound: boolean
}

type Json = Readonly<Record<string, unknown>>

/** A cursor that leads nowhere makes `tx` and `liq` ask ClickHouse, which in development answers a few dozen times a second. */
const HISTORY_SHARE = 0.02
const MAX_BATCH = 20

export function makeMessage(random: Random, target: WsTarget, id: number): Message {
  const dice = random.next()
  if (dice < 0.5) return message(JSON.stringify(soundRequest(random, target, id)), true)
  if (dice < 0.8) return message(JSON.stringify(brokenRequest(random, target, id)), false)
  if (dice < 0.88) return message(JSON.stringify(makeBatch(random, target, id)), false)
  if (dice < 0.9) return message(bomb(random), false)
  return otherwiseWritten(random, JSON.stringify(soundRequest(random, target, id)))
}

/** With the key of some plan, or with none that is good. */
export function authMessage(random: Random, { keys }: WsTarget, id: number): Message {
  const key = random.chance(0.5)
    ? random.pick([keys.flood, keys.good, keys.narrow])
    : random.pick([keys.expired, keys.revoked, `${keys.flood.slice(0, -1)}~`, ...HOSTILE_TEXTS])
  return authWith(key, id)
}

export function authWith(key: string, id: number): Message {
  return message(JSON.stringify({ jsonrpc: '2.0', id, method: 'auth', params: [key] }), false)
}

function message(text: string, isSound: boolean): Message {
  return { payload: Buffer.from(text), isBinary: false, isSound }
}

function soundRequest(random: Random, target: WsTarget, id: number): Json {
  const version = { jsonrpc: '2.0', id }
  const dice = random.next()
  if (dice < 0.15) return random.chance(0.3) ? { method: 'ping', id } : { ...version, method: 'ping' }
  if (dice < 0.2) return { ...version, method: 'unsubscribe', params: [] }
  const method = dice < 0.4 ? 'unsubscribe' : 'subscribe'
  return { ...version, method, params: soundParams(random, target) }
}

function soundParams(random: Random, target: WsTarget): unknown[] {
  const { names } = target
  const name = random.pick(TOPIC_NAMES)
  const pair = (): string => inSomeCase(random.pick([names.pair, names.pair, names.idlePair]), random)
  const token = (): string => inSomeCase(random.pick([names.token, names.stable, names.native]), random)
  const interval = (): string => random.pick(INTERVALS)
  const several = <T>(make: () => T): T[] => Array.from({ length: random.pick([1, 1, 2, 5, 20]) }, make)
  const subject = {
    tx: () => [pair(), 'local'],
    liq: () => [pair(), 'local'],
    multi_tx: () => [token(), 'local'],
    kline: () => [pair(), interval(), 'local'],
    multi_kline: () => several(() => [pair(), interval(), 'local']),
    price: () => [several(() => `${random.chance(0.5) ? pair() : token()}-local`)],
  }[name]()
  return [name, ...subject, ...(random.chance(0.4) ? [soundOptions(random, target)] : [])]
}

function inSomeCase(address: string, random: Random): string {
  return random.chance(0.9) ? address : `0x${address.slice(2).toUpperCase()}`
}

function soundOptions(random: Random, { cursors }: WsTarget): Json {
  return {
    ...(random.chance(0.5) ? { cursor: random.chance(0.8) } : {}),
    ...(random.chance(0.5) ? { reorg: random.chance(0.8) } : {}),
    ...(random.chance(0.3) && cursors.length > 0 ? { from: random.pick(cursors) } : {}),
  }
}

/** A good one, with something of it gone, doubled, added or replaced. */
function brokenRequest(random: Random, target: WsTarget, id: number): unknown {
  let request: unknown = soundRequest(random, target, id)
  if (random.chance(0.1)) request = withCursor(request as Json, forgedCursor(random, target), random)
  for (let times = random.between(1, 3); times > 0; times--) request = mutated(request, random, target)
  return request
}

/** On a topic that finds no history behind it, or seldom on one that does. */
function withCursor(request: Json, from: unknown, random: Random): Json {
  const { params } = request
  if (!Array.isArray(params) || params.length === 0) return request
  const asksHistory = params[0] === 'tx' || params[0] === 'liq'
  if (asksHistory && !random.chance(HISTORY_SHARE)) return request
  return { ...request, params: [...params, { from }] }
}

function mutated(value: unknown, random: Random, target: WsTarget): unknown {
  if (typeof value !== 'object' || value === null || random.chance(0.08)) return strangeValue(random, target)
  if (Array.isArray(value)) {
    const items: unknown[] = [...value]
    const at = random.below(items.length)
    const dice = random.next()
    if (items.length === 0 || dice < 0.15) return items.toSpliced(at, 0, strangeValue(random, target))
    if (dice < 0.3) return items.toSpliced(at, 1)
    if (dice < 0.35) return Array.from({ length: random.pick([2, 101, 201, 1_000]) }, () => items[at])
    return items.with(at, mutated(items[at], random, target))
  }
  const members = Object.entries(value)
  const params = members.findIndex(([name]) => name === 'params')
  const at = params >= 0 && random.chance(0.6) ? params : random.below(members.length)
  const dice = random.next()
  const strange: [string, unknown] = [random.pick(HOSTILE_TEXTS), strangeValue(random, target)]
  if (members.length === 0 || dice < 0.1) return Object.fromEntries([...members, strange])
  const [name, member] = members[at] as [string, unknown]
  if (dice < 0.2) return Object.fromEntries(members.toSpliced(at, 1))
  return Object.fromEntries(members.with(at, [name, mutated(member, random, target)]))
}

function strangeValue(random: Random, target: WsTarget): unknown {
  const dice = random.next()
  if (dice < 0.3) return random.pick(HOSTILE_TEXTS)
  if (dice < 0.5) return idLike(target.names, random)
  if (dice < 0.6) return random.pick(['subscribe', 'unsubscribe', 'auth', 'ping', 'shutdown', ...TOPIC_NAMES])
  if (dice < 0.7) return random.pick([...INTERVALS, 'k2', 'local', 'tron', '2.0', '1.0', 2])
  if (dice < 0.75) return random.pick([target.keys.flood, target.keys.revoked])
  return strangeJson(random)
}

function makeBatch(random: Random, target: WsTarget, id: number): unknown[] {
  const length = random.pick([0, 1, 2, 3, 5, MAX_BATCH, MAX_BATCH + 1, 500])
  // A long one is refused as a whole: what stands in it matters little.
  const make = length > MAX_BATCH ? soundRequest : random.chance(0.5) ? soundRequest : brokenRequest
  return Array.from({ length }, (_, index) => make(random, target, id * 1_000 + index))
}

/** As a client that has seen through it would write one: with other numbers, of another log or chain, or only cut off. */
function forgedCursor(random: Random, { cursors }: WsTarget): unknown {
  if (cursors.length === 0 || random.chance(0.2)) return random.pick(HOSTILE_TEXTS)
  const cursor = random.pick(cursors)
  if (random.chance(0.2)) return cursor.slice(0, random.below(cursor.length))
  const rows = JSON.parse(Buffer.from(cursor.slice(3), 'base64url').toString()) as unknown[][]
  const [row = []] = rows
  const number = (): unknown =>
    random.pick([0, 1, -1, 1.5, 2 ** 53, 2 ** 53 - 1, 10 ** 9, random.below(1_000), '1', null])
  const at = random.below(row.length)
  const forged = row.with(at, at < 2 ? random.pick(['tron', '', 'local', '__proto__', 7]) : number())
  const all = random.pick([[forged], [forged, row], [row, forged], [row.slice(0, at)], [[]], [], {}, forged])
  return `c1.${Buffer.from(JSON.stringify(all)).toString('base64url')}`
}
