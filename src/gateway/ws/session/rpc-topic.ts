import {
  type ChainAddress,
  type ChainFamily,
  isChainName,
  normaliseAddress,
  parseChainAddress,
} from '../../../domain/ids.ts'
import { INTERVALS, type Interval, isInterval } from '../../../domain/interval.ts'
import { RpcFault } from '../rpc-fault.ts'
import {
  NO_OPTIONS,
  type PriceItem,
  type Rejected,
  type RejectionReason,
  type Series,
  TOPIC_NAMES,
  type Topic,
  type TopicOptions,
} from '../topic.ts'

export type TopicRules = {
  readonly familyOf: (chain: string) => ChainFamily | undefined
  readonly maxPriceIds: number
  readonly maxMultiKlinePairs: number
}

/** A cursor grows with the chains that a subscription speaks of. */
const MAX_CURSOR = 8_192

/** Checks the params of a subscribe or unsubscribe; throws an `RpcFault`. */
export function parseTopic(
  params: readonly unknown[],
  rules: TopicRules,
): { topic: Topic; options: TopicOptions } {
  const last = params.at(-1)
  const hasOptions = params.length > 1 && isObject(last)
  const rest = hasOptions ? params.slice(0, -1) : params
  const options = hasOptions ? parseOptions(last, params.length - 1) : NO_OPTIONS
  return { topic: parseSubject(rest, rules), options }
}

function parseSubject([name, ...rest]: readonly unknown[], rules: TopicRules): Topic {
  switch (name) {
    case 'tx':
    case 'liq': {
      const [address, chain] = strings(rest, ['pair address', 'chain'])
      return { name, pair: parseAddress('pair', address, chain, rules) }
    }
    case 'multi_tx': {
      const [address, chain] = strings(rest, ['token address', 'chain'])
      return { name, token: parseAddress('token', address, chain, rules) }
    }
    case 'kline': {
      const [address, interval, chain] = strings(rest, ['pair address', 'interval', 'chain'])
      const series = { interval: parseInterval(interval), pair: parseAddress('pair', address, chain, rules) }
      return { name, series: [series], rejected: [] }
    }
    case 'multi_kline':
      return parseMultiKline(rest, rules)
    case 'price':
      return parsePrice(rest, rules)
    default:
      throw invalid(0, `unknown topic; use one of: ${TOPIC_NAMES.join(', ')}`)
  }
}

function parseOptions(given: object, index: number): TopicOptions {
  // Only own members count: `__proto__` and its kin are names like any other.
  const members = new Map<string, unknown>(Object.entries(given))
  const flag = (name: string): boolean => {
    const value = members.get(name) ?? false
    if (typeof value !== 'boolean') throw invalid(index, `${name} must be true or false`)
    return value
  }
  const from = members.get('from')
  if (from !== undefined && (typeof from !== 'string' || from.length > MAX_CURSOR)) {
    throw invalid(index, 'from must be a cursor')
  }
  const checkpoint = flag('checkpoint')
  const cursor = flag('cursor') || checkpoint || from !== undefined
  const options = { cursor, from, reorg: flag('reorg'), checkpoint }
  const unknown = [...members.keys()].find((name) => !Object.hasOwn(options, name))
  if (unknown !== undefined) throw invalid(index, 'unknown option; use cursor, from, reorg or checkpoint')
  return options
}

function parseAddress(
  kind: 'pair' | 'token',
  address: string,
  chain: string,
  rules: TopicRules,
): ChainAddress {
  const family = isChainName(chain) ? rules.familyOf(chain) : undefined
  const item = `${address}-${chain}`
  if (family === undefined) throw unknownSubject([{ item, reason: 'unknown_chain' }])
  const normal = normaliseAddress(family, kind, address)
  if (normal === undefined) throw invalid(1, `not a ${kind} address of ${chain}`)
  return { address: normal, chain }
}

function parseInterval(text: string): Interval {
  if (isInterval(text)) return text
  throw invalid(2, `unknown interval; use one of: ${INTERVALS.join(', ')}`)
}

function parseMultiKline(rest: readonly unknown[], rules: TopicRules): Topic {
  const { maxMultiKlinePairs } = rules
  if (rest.length === 0) {
    throw invalid(1, 'multi_kline takes one or more arrays of pair address, interval and chain')
  }
  if (rest.length > maxMultiKlinePairs) {
    throw new RpcFault('limit_exceeded', `multi_kline takes at most ${maxMultiKlinePairs} pairs`, {
      limit: 'multi_kline_pairs',
      max: maxMultiKlinePairs,
    })
  }
  const series = new Map<string, Series>()
  const rejected: Rejected[] = []
  for (const [index, each] of rest.entries()) {
    if (!Array.isArray(each) || each.length !== 3 || each.some((part) => typeof part !== 'string')) {
      throw invalid(index + 1, 'must be an array of pair address, interval and chain')
    }
    const [address, interval, chain] = each as [string, string, string]
    const item = `${address}-${chain}`
    const family = isChainName(chain) ? rules.familyOf(chain) : undefined
    const normal = family === undefined ? undefined : normaliseAddress(family, 'pair', address)
    if (family === undefined) rejected.push({ item, reason: 'unknown_chain' })
    else if (normal === undefined) rejected.push({ item, reason: 'malformed_id' })
    else if (!isInterval(interval)) rejected.push({ item, reason: 'malformed_interval', interval })
    else series.set(`${normal}-${chain}-${interval}`, { pair: { address: normal, chain }, interval })
  }
  return { name: 'multi_kline', series: [...series.values()], rejected }
}

function parsePrice(rest: readonly unknown[], rules: TopicRules): Topic {
  const [ids] = rest
  if (rest.length !== 1 || !Array.isArray(ids) || ids.length === 0) {
    throw new RpcFault('invalid_params', 'price takes one array of token-ids and pair-ids', {
      pointer: '/params/1',
    })
  }
  if (ids.length > rules.maxPriceIds) {
    throw new RpcFault('limit_exceeded', `a price subscription can have at most ${rules.maxPriceIds} ids`, {
      limit: 'price_ids',
      max: rules.maxPriceIds,
    })
  }
  const items = new Map<string, PriceItem>()
  const rejected: Rejected[] = []
  for (const [index, id] of (ids as unknown[]).entries()) {
    if (typeof id !== 'string') {
      throw new RpcFault('invalid_params', 'an id must be a string', { pointer: `/params/1/${index}` })
    }
    // A token-id is a pair-id in form, but not the other way round.
    const ref = parseChainAddress(id, 'pair', rules.familyOf)
    if (typeof ref === 'string') rejected.push({ item: id, reason: ref })
    else items.set(`${ref.address}-${ref.chain}`, { id, ref })
  }
  return { name: 'price', items: [...items.values()], rejected }
}

/** The pairs, tokens or chains of a request are all unknown, so that nothing of it can be done. */
export function unknownSubject(rejected: readonly Rejected[]): RpcFault {
  const texts: Record<RejectionReason, string> = {
    malformed_id: 'malformed id',
    malformed_interval: 'malformed interval',
    unknown_chain: 'unknown chain',
    unknown_pair: 'unknown pair',
    unknown_token: 'unknown token',
    unknown_id: 'neither a known pair nor a known token',
    unpriced_pair: 'a pair without a quote asset has no candles',
  }
  const reasons = [...new Set(rejected.map(({ reason }) => texts[reason]))]
  return new RpcFault('unknown_subject', reasons.join('; '), { rejected })
}

function strings<const Names extends readonly string[]>(
  rest: readonly unknown[],
  names: Names,
): { [Index in keyof Names]: string } {
  for (const [index, name] of names.entries()) {
    if (typeof rest[index] !== 'string') throw invalid(index + 1, `the ${name} must be a string`)
  }
  if (rest.length > names.length) throw invalid(names.length + 1, `nothing may follow the ${names.at(-1)}`)
  return rest as { [Index in keyof Names]: string }
}

function invalid(index: number, message: string): RpcFault {
  return new RpcFault('invalid_params', message, { pointer: `/params/${index}` })
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
