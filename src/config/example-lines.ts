import { stringify } from 'yaml'
import { configSchema } from './schema.ts'

type Schema = {
  readonly default?: unknown
  readonly type?: string
  readonly minimum?: number
  readonly anyOf?: readonly { readonly const?: unknown }[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
}

const ADDRESS = '0x0000000000000000000000000000000000000000'

/** For settings without a default; `*` is the name of a chain or plan. */
const EXAMPLES: Readonly<Record<string, unknown>> = {
  chains: { eth: { rpc_urls: ['http://127.0.0.1:8545'] } },
  'chains.*': { rpc_urls: ['http://127.0.0.1:8545'] },
  'chains.*.rpc_urls': ['http://127.0.0.1:8545'],
  'chains.*.ws_urls': ['ws://127.0.0.1:8546'],
  'chains.*.start_date': '2025-06-15',
  'chains.*.quote_assets': [{ address: ADDRESS, kind: 'stable' }],
  'chains.*.dexes': [{ amm: 'uniswap_v2', protocol: 'uniswap_v2', factory: ADDRESS }],
  'chains.*.lockers': [ADDRESS],
  'gateway.public_urls': ['https://data.example'],
  'gateway.token_lists': ['https://lists.example/tokens.json'],
  plans: { default: { requests_per_second: 50 } },
  'plans.*': { requests_per_second: 50 },
}

/** A line of YAML that sets this path to a valid value: `gateway: { port: 8080 }`; undefined for an unknown path. */
export function exampleLine(path: readonly string[]): string | undefined {
  const { keys, pattern, schema } = settingAt(path)
  const [first, ...rest] = keys
  const value = EXAMPLES[pattern.join('.')] ?? exampleOf(schema)
  if (first === undefined || value === undefined) return undefined
  const tree = rest.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)
  return `${first}: ${stringify(tree, { collectionStyle: 'flow', lineWidth: 0 }).trim()}`
}

/** Names of the settings of a section; empty where there is no such section. */
export function settingsIn(path: readonly string[]): string[] {
  return Object.keys(settingAt(path).schema?.properties ?? {})
}

/** As deep as settings have names: what is inside of a list belongs to the list. */
function settingAt(path: readonly string[]) {
  let schema: Schema | undefined = configSchema as Schema
  const keys: string[] = []
  const pattern: string[] = []
  for (const key of path) {
    if (schema?.items !== undefined) break
    const member: Schema | undefined = Object.values(schema?.patternProperties ?? {})[0]
    const child: Schema | undefined = schema?.properties?.[key]
    schema = child ?? member
    keys.push(key)
    pattern.push(child === undefined ? '*' : key)
  }
  return { keys, pattern, schema }
}

function exampleOf(schema: Schema | undefined): unknown {
  if (schema === undefined) return undefined
  const { default: fallback, properties, anyOf, type } = schema
  const isEmpty = typeof fallback === 'object' && fallback !== null && Object.keys(fallback).length === 0
  if (fallback !== undefined && !isEmpty) return fallback
  if (anyOf !== undefined) return anyOf[0]?.const
  const [name, child] = Object.entries(properties ?? {})[0] ?? []
  if (name !== undefined) return { [name]: exampleOf(child) }
  if (type === 'integer') return Math.max(1, schema.minimum ?? 1)
  return type === 'string' ? 'text' : undefined
}
