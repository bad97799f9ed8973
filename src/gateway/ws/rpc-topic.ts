import {
  type ChainFamily,
  type ChainId,
  isChainName,
  normaliseAddress,
  parseChainId,
} from '../../domain/ids.ts'
import { INTERVALS, type Interval, isInterval } from '../../domain/interval.ts'
import { RpcFault } from './rpc-fault.ts'
import { type PriceItem, type Rejected, type RejectionReason, TOPIC_NAMES, type Topic } from './topic.ts'

type TopicRules = {
  readonly familyOf: (chain: string) => ChainFamily | undefined
  readonly maxPriceIds: number
}

/** Checks the params of a subscribe or unsubscribe; throws an `RpcFault`. */
export function parseTopic(params: readonly unknown[], rules: TopicRules): Topic {
  const [name, ...rest] = params
  const at = rest.findIndex(isOptions)
  if (at !== -1) throw invalid(at + 1, 'an options object is not supported yet')
  switch (name) {
    case 'tx': {
      const [address, chain] = strings(rest, ['pair address', 'chain'])
      return { name, pair: parsePair(address, chain, rules) }
    }
    case 'kline': {
      const [address, interval, chain] = strings(rest, ['pair address', 'interval', 'chain'])
      return { name, interval: parseInterval(interval), pair: parsePair(address, chain, rules) }
    }
    case 'price':
      return parsePrice(rest, rules)
    default:
      throw invalid(0, `the topics supported so far are ${TOPIC_NAMES.join(', ')}`)
  }
}

function parsePair(address: string, chain: string, rules: TopicRules): ChainId {
  const family = isChainName(chain) ? rules.familyOf(chain) : undefined
  const item = `${address}-${chain}`
  if (family === undefined) throw unknownSubject([{ item, reason: 'unknown_chain' }])
  const normal = normaliseAddress(family, 'pair', address)
  if (normal === undefined) throw invalid(1, `not a pair address of ${chain}`)
  return { address: normal, chain }
}

function parseInterval(text: string): Interval {
  if (isInterval(text)) return text
  throw invalid(2, `the intervals are ${INTERVALS.join(', ')}`)
}

function parsePrice(rest: readonly unknown[], rules: TopicRules): Topic {
  const [ids] = rest
  if (rest.length !== 1 || !Array.isArray(ids) || ids.length === 0) {
    throw new RpcFault('invalid_params', 'price takes one array of token-ids and pair-ids', {
      pointer: '/params/1',
    })
  }
  if (ids.length > rules.maxPriceIds) {
    throw new RpcFault('limit_exceeded', `a price subscription holds at most ${rules.maxPriceIds} ids`, {
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
    const ref = parseChainId(id, 'pair', rules.familyOf)
    if (typeof ref === 'string') rejected.push({ item: id, reason: ref })
    else items.set(`${ref.address}-${ref.chain}`, { id, ref })
  }
  return { name: 'price', items: [...items.values()], rejected }
}

/** The pairs, tokens or chains of a request are all unknown, so that nothing of it can be done. */
export function unknownSubject(rejected: readonly Rejected[]): RpcFault {
  const texts: Record<RejectionReason, string> = {
    malformed_id: 'malformed id',
    unknown_chain: 'unknown chain',
    unknown_pair: 'unknown pair',
    unknown_id: 'neither a known pair nor a known token',
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

function isOptions(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
