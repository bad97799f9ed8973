import type { Kind, Presence, Row, Shape } from './record.ts'

/** `full`: of what is asked about everything is known, so that nothing may be missing or empty. */
export type Knowledge = 'full' | 'some'

/** Nothing is served from before the week in which the market was made. */
const EARLIEST = 1_749_000_000

const PLAIN_DECIMAL = /^-?(0|[1-9]\d*)(\.\d*[1-9])?$/
const PERCENT_POINTS = /^-?(0|[1-9]\d*)(\.\d?[1-9])?$/
/** Base58 never contains a zero, so that no hexadecimal text fits it. */
const KEY = '[1-9A-HJ-NP-Za-km-z]{32,44}'
const FORMS = {
  text: /^/,
  decimal: PLAIN_DECIMAL,
  percent: PERCENT_POINTS,
  address: new RegExp(`^(0x([0-9a-f]{40}|[0-9a-f]{64})|${KEY})$`),
  id: new RegExp(`^(0x[0-9a-f]{40}-[a-z]+|${KEY}-solana|\\d+-\\d+)$`),
  hash: /^(0x[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/,
} as const

/** Where an answer differs from its table; empty if nowhere. */
export function faultsOf(shape: Shape, value: unknown, knowledge: Knowledge, at = ''): string[] {
  if ('kind' in shape) return kindFaults(shape.kind, value, at)
  if ('arrayOf' in shape) {
    if (!Array.isArray(value)) return [`${at} is no array`]
    const tooMany = value.length > (shape.max ?? Number.POSITIVE_INFINITY) ? [`${at} has too many items`] : []
    return [
      ...tooMany,
      ...value.flatMap((item, index) => faultsOf(shape.arrayOf, item, knowledge, `${at}/${index}`)),
    ]
  }
  if (!isObject(value)) return [`${at} is no object`]
  if ('mapOf' in shape) {
    return Object.entries(value).flatMap(([key, item]) => [
      ...kindFaults('id', key, `${at}/${key} as a name`),
      ...faultsOf(shape.mapOf, item, knowledge, `${at}/${key}`),
    ])
  }
  const requested = Object.entries(shape.onRequest ?? {}).filter(([name]) => Object.hasOwn(value, name))
  const inner = { ...shape.inner, ...Object.fromEntries(requested) }
  const names = new Set([...shape.rows.map(([name]) => name), ...Object.keys(inner)])
  return [
    ...Object.keys(value).flatMap((name) => (names.has(name) ? [] : [`${at}/${name} is not in the table`])),
    ...shape.rows.flatMap((row) => rowFaults(row, value, knowledge, at)),
    ...Object.entries(inner).flatMap(([name, of]) => faultsOf(of, value[name], knowledge, `${at}/${name}`)),
  ]
}

function rowFaults(
  [name, kind, presence]: Row,
  value: Readonly<Record<string, unknown>>,
  knowledge: Knowledge,
  at: string,
): string[] {
  const path = `${at}/${name}`
  if (!Object.hasOwn(value, name)) return mayBeMissing(presence, knowledge) ? [] : [`${path} is missing`]
  const given = value[name]
  // Only the document's own fields may be empty, and only while they are not known.
  if (presence === 'listed' && knowledge === 'some' && given === '') return []
  return kindFaults(kind, given, path)
}

function mayBeMissing(presence: Presence, knowledge: Knowledge): boolean {
  switch (presence) {
    case 'listed':
      return false
    case 'ours':
      return knowledge === 'some'
    default:
      return true
  }
}

function kindFaults(kind: Kind, value: unknown, at: string): string[] {
  return isOfKind(kind, value) ? [] : [`${at} is ${JSON.stringify(value)}, not ${JSON.stringify(kind)}`]
}

function isOfKind(kind: Kind, value: unknown): boolean {
  if (typeof kind === 'object') return 'is' in kind ? value === kind.is : kind.oneOf.includes(value as number)
  switch (kind) {
    case 'integer':
      return Number.isSafeInteger(value)
    case 'count':
      return Number.isSafeInteger(value) && (value as number) >= 0
    case 'time':
      return Number.isSafeInteger(value) && (value as number) >= EARLIEST && isPast(value as number)
    case 'number':
      return typeof value === 'number' && Number.isFinite(value)
    case 'boolean':
      return typeof value === 'boolean'
    default:
      return typeof value === 'string' && FORMS[kind].test(value) && value !== '-0'
  }
}

/** In seconds: the same moment in milliseconds would be far ahead. */
function isPast(time: number): boolean {
  return time <= Date.now() / 1_000 + 1
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
