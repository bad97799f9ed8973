import { stringify } from 'yaml'
import type { ChainFamily } from '../domain/ids.ts'
import { CHAIN_SCHEMAS, FAMILY_SCHEMA } from './chain-schema.ts'
import { configSchema } from './schema.ts'

type Schema = {
  readonly default?: unknown
  readonly type?: string
  readonly minimum?: number
  readonly const?: unknown
  readonly anyOf?: readonly { readonly const?: unknown }[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
}

const ADDRESS = '0x0000000000000000000000000000000000000000'
const KEY = '11111111111111111111111111111111'

/** For settings of a Solana chain that differ from those of EVM chains. */
const SOLANA_EXAMPLES: Readonly<Record<string, unknown>> = {
  'chains.*.genesis_hash': KEY,
  'chains.*.grpc_urls': ['http://127.0.0.1:10000'],
  'chains.*.rpc_urls': ['http://127.0.0.1:8899'],
  'chains.*.quote_assets': [{ address: KEY, kind: 'stable' }],
  'chains.*.dexes': [{ amm: 'raydium_cpmm', protocol: 'raydium_cpmm', factory: KEY }],
  'chains.*.lockers': [KEY],
}

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
  'gateway.terminal': { api_key: `ctk_${'0'.repeat(36)}` },
  'gateway.terminal.api_key': `ctk_${'0'.repeat(36)}`,
  plans: { default: { requests_per_second: 50 } },
  'plans.*': { requests_per_second: 50 },
}

/**
 * A line of YAML that sets this path to a valid value: `gateway: { port: 8080 }`; undefined for an unknown path. `family` is
 * that of the chain the path belongs to.
 */
export function exampleLine(path: readonly string[], family?: ChainFamily): string | undefined {
  const { keys, pattern, schema } = settingAt(path, family)
  const [first, ...rest] = keys
  const own = family === 'solana' ? SOLANA_EXAMPLES : EXAMPLES
  const value = own[pattern.join('.')] ?? EXAMPLES[pattern.join('.')] ?? exampleOf(schema)
  if (first === undefined || value === undefined) return undefined
  const tree = rest.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)
  return `${first}: ${stringify(tree, { collectionStyle: 'flow', lineWidth: 0 }).trim()}`
}

/** Names of the settings of a section, or of a row of a list; empty if there is no such section. */
export function settingsIn(path: readonly string[], family?: ChainFamily): string[] {
  const { schema } = settingAt(path, family)
  return Object.keys(schema?.properties ?? schema?.items?.properties ?? {})
}

/** As deep as settings have names: what is inside of a list belongs to the list. */
function settingAt(path: readonly string[], family: ChainFamily | undefined) {
  let schema: Schema | undefined = configSchema as Schema
  const keys: string[] = []
  const pattern: string[] = []
  for (const key of path) {
    if (schema?.items !== undefined) break
    const isChain: boolean = keys.length === 1 && keys[0] === 'chains'
    const member: Schema | undefined = isChain
      ? ((family === undefined ? FAMILY_SCHEMA : CHAIN_SCHEMAS[family]) as Schema)
      : Object.values(schema?.patternProperties ?? {})[0]
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
  if (schema.const !== undefined) return schema.const
  if (anyOf !== undefined) return anyOf[0]?.const
  const [name, child] = Object.entries(properties ?? {})[0] ?? []
  if (name !== undefined) return { [name]: exampleOf(child) }
  if (type === 'integer') return Math.max(1, schema.minimum ?? 1)
  return type === 'string' ? 'text' : undefined
}
