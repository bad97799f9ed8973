import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { ChaintapeError } from '../domain/errors.ts'
import { isChainName } from '../domain/ids.ts'
import { suggestion } from '../lib/arguments.ts'
import { accessProblems } from './access-problems.ts'
import { chainSchema } from './chain-schema.ts'
import { schemaProblems } from './problems.ts'
import { readYamlText } from './read-yaml.ts'
import { type Config, configSchema } from './schema.ts'
import { parseStartDate } from './start-date.ts'

type Tree = { [key: string]: unknown }

const PREFIX = 'CHAINTAPE_'
/** Variables with our prefix that are not settings. */
const NOT_SETTINGS = new Set(['CHAINTAPE_CONFIG', 'CHAINTAPE_FIXTURES', 'CHAINTAPE_TEST_TALLY'])
const planSchema = Object.values(configSchema.properties.plans.patternProperties)[0] as TSchema
const memberSchemas = { chains: chainSchema, plans: () => planSchema }
const PLATFORM_PROTOCOL = 'raydium_launchlab'
const CHAIN_FILES = fileURLToPath(new URL('../../config/chains/', import.meta.url))

/**
 * One frozen object from, in rising strength: the schema's defaults, `config/chains/<chain>.yaml` for every
 * chain named, the operator's file, the environment. A setting's variable is its path in capitals:
 * `nats.urls` is CHAINTAPE_NATS_URLS (lists separated by commas).
 */
export function loadConfig(file: string | undefined, env: NodeJS.ProcessEnv = process.env): Config {
  return checked(file === undefined ? {} : readYaml(file), file, env)
}

/** From the text of a file that is about to be written. */
export function parseConfig(text: string, file: string): Config {
  return checked(parseYaml(text), file, {})
}

/** The chains with a file in `config/chains`, without the one that is deployed for tests. */
export function shippedChains(): string[] {
  const names = readdirSync(CHAIN_FILES).map((file) => file.replace(/\.yaml$/, ''))
  return names.filter((name) => name !== 'local').sort()
}

function checked(tree: Tree, file: string | undefined, env: NodeJS.ProcessEnv): Config {
  const given = withChainFiles(tree)
  const unknown = [...misnamed(given, 'chains'), ...misnamed(given, 'plans'), ...unknownVariables(given, env)]
  const settings = withEnvironment(given, env)
  const starts = wrongStarts(settings)
  const whole = withDefaults(settings)
  const { problems, examples } = schemaProblems(whole)
  const all = [...unknown, ...problems, ...starts, ...wrongPlatforms(settings), ...accessProblems(settings)]
  if (all.length > 0) {
    const source =
      file === undefined ? 'the environment (no --config file given)' : `${file} and the environment`
    const hint =
      examples.length === 0 ? [] : ['', 'write, for example:', ...examples.map((line) => `  ${line}`)]
    const lines = [`configuration from ${source}:`, ...all.map((problem) => `  ${problem}`), ...hint]
    throw new ChaintapeError('config_invalid', lines.join('\n'))
  }
  return deepFreeze(lowerCaseAddresses(whole)) as Config
}

function readYaml(file: string): Tree {
  try {
    return parseYaml(readFileSync(file, 'utf8'))
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const reason = isAbsent
      ? 'no such file; create it, or name another with --config FILE'
      : (error as Error).message
    throw new ChaintapeError('config_invalid', `${file}: ${reason}`)
  }
}

function parseYaml(text: string): Tree {
  const tree: unknown = readYamlText(text) ?? {}
  if (!isTree(tree)) throw new Error('the top level must be a mapping')
  return tree
}

function withChainFiles(given: Tree): Tree {
  const chains = given['chains']
  if (!isTree(chains)) return given
  const merged: Tree = {}
  for (const [name, own] of Object.entries(chains)) {
    const known = readKnownChain(name)
    merged[name] = isTree(own ?? {}) ? overridden(known, (own ?? {}) as Tree) : own
  }
  return { ...given, chains: merged }
}

/** Sections are merged, so that a supply beside the shipped name of a coin does not replace it. Lists are replaced. */
function overridden(known: Tree, own: Tree): Tree {
  const sections = Object.entries(own).map(([key, value]) => {
    const before = known[key]
    return [key, isTree(before) && isTree(value) ? { ...before, ...value } : value]
  })
  return { ...known, ...Object.fromEntries(sections) }
}

function readKnownChain(name: string): Tree {
  // The name becomes a path: only a plain word may.
  if (!isChainName(name)) return {}
  const file = `${CHAIN_FILES}${name}.yaml`
  try {
    readFileSync(file)
  } catch {
    // Not a chain we ship a file for: the operator's own entry has to say everything.
    return {}
  }
  return readYaml(file)
}

function misnamed(given: Tree, record: 'chains' | 'plans'): string[] {
  const names = isTree(given[record]) ? Object.keys(given[record]) : []
  // The schema's record lets a key that does not match its pattern pass unread.
  return names
    .filter((name) => !isChainName(name))
    .map((name) => {
      const what = record === 'chains' ? "a chain's name" : "a plan's name"
      return `${record}.${name} is not ${what}: a lowercase letter, then lowercase letters, digits or _`
    })
}

/** Rules beyond the schema: checked before the defaults are filled in, since `start_block` has one. */
function wrongStarts(settings: Tree): string[] {
  const chains = isTree(settings['chains']) ? settings['chains'] : {}
  return Object.entries(chains).flatMap(([name, chain]) => {
    if (!isTree(chain) || chain['start_date'] === undefined) return []
    const problems: string[] = []
    if (chain['start_block'] !== undefined)
      problems.push(`chains.${name}: set start_block or start_date, not both`)
    const date = chain['start_date']
    if (typeof date === 'string' && parseStartDate(date) === undefined)
      problems.push(`chains.${name}.start_date must be a date (2025-06-15) or a time (2025-06-15T12:00:00Z)`)
    return problems
  })
}

/** A platform is a part of a launch program, so it needs the row of the program itself. */
function wrongPlatforms(settings: Tree): string[] {
  const chains = isTree(settings['chains']) ? settings['chains'] : {}
  return Object.entries(chains).flatMap(([name, chain]) => {
    const rows = isTree(chain) && Array.isArray(chain['dexes']) ? chain['dexes'].filter(isTree) : []
    const isOfProgram = (row: Tree, { factory }: Tree): boolean =>
      row['platform_config'] === undefined &&
      row['factory'] === factory &&
      row['protocol'] === PLATFORM_PROTOCOL
    return rows.flatMap((row, index) => {
      if (row['platform_config'] === undefined || rows.some((other) => isOfProgram(other, row))) return []
      return [
        `chains.${name}.dexes.${index}.platform_config needs a row of the same factory without it, of protocol ${PLATFORM_PROTOCOL}`,
      ]
    })
  })
}

function unknownVariables(tree: Tree, env: NodeJS.ProcessEnv): string[] {
  const settable = settablePaths(tree, env)
  return Object.keys(env)
    .filter(
      (name) =>
        env[name] !== undefined && name.startsWith(PREFIX) && !NOT_SETTINGS.has(name) && !settable.has(name),
    )
    .map((name) => `${name} is not a setting${suggestion(name, [...settable.keys()])}`)
}

function withEnvironment(tree: Tree, env: NodeJS.ProcessEnv): Tree {
  const result = structuredClone(tree)
  for (const [name, { path, type }] of settablePaths(tree, env)) {
    const text = env[name]
    if (text !== undefined) setPath(result, path, parseValue(text, type))
  }
  return result
}

function withDefaults(given: Tree): Tree {
  const tree = Value.Default(configSchema, given) as Tree
  // The validator does not fill in the members of a record.
  for (const [name, schemaOf] of Object.entries(memberSchemas)) {
    const members = tree[name]
    if (!isTree(members)) continue
    for (const [key, member] of Object.entries(members))
      members[key] = Value.Default(schemaOf(member), member)
  }
  return tree
}

type Setting = { readonly path: readonly string[]; readonly type: string }
type SchemaNode = {
  type?: string
  properties?: Record<string, SchemaNode>
  patternProperties?: Record<string, SchemaNode>
}

function settablePaths(tree: Tree, env: NodeJS.ProcessEnv): Map<string, Setting> {
  const found = new Map<string, Setting>()
  const visit = (node: SchemaNode, path: readonly string[], value: unknown): void => {
    const inner = Object.values(node.patternProperties ?? {})[0]
    if (path.length === 1 && path[0] === 'chains') {
      for (const [key, chain] of Object.entries(isTree(value) ? value : {})) {
        // The settings of a chain depend on its family, which may be a variable itself.
        const family = env[variableOf([...path, key, 'family'])]
        const schema = chainSchema(family === undefined ? chain : { family })
        visit(schema as SchemaNode, [...path, key], chain)
      }
    } else if (node.properties !== undefined) {
      for (const [key, child] of Object.entries(node.properties)) {
        visit(child, [...path, key], isTree(value) ? value[key] : undefined)
      }
    } else if (inner !== undefined) {
      for (const key of isTree(value) ? Object.keys(value) : []) visit(inner, [...path, key], undefined)
    } else {
      found.set(variableOf(path), { path, type: node.type ?? 'string' })
    }
  }
  visit(configSchema as SchemaNode, [], tree)
  return found
}

function variableOf(path: readonly string[]): string {
  return PREFIX + path.join('_').toUpperCase()
}

function parseValue(text: string, type: string): unknown {
  if (type === 'array') return text.trim() === '' ? [] : text.split(',').map((item) => item.trim())
  if (type === 'integer' || type === 'number') return /^-?\d+$/.test(text) ? Number(text) : text
  return text
}

function setPath(tree: Tree, path: readonly string[], value: unknown): void {
  let node = tree
  for (const key of path.slice(0, -1)) {
    const child = node[key]
    const next: Tree = isTree(child) ? child : {}
    node[key] = next
    node = next
  }
  node[path.at(-1) as string] = value
}

function lowerCaseAddresses(node: unknown): unknown {
  if (typeof node === 'string')
    return /^0x(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/.test(node) ? node.toLowerCase() : node
  if (Array.isArray(node)) return node.map(lowerCaseAddresses)
  if (!isTree(node)) return node
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, lowerCaseAddresses(value)]))
}

function deepFreeze<T>(node: T): T {
  if (typeof node === 'object' && node !== null) {
    Object.values(node).forEach(deepFreeze)
    Object.freeze(node)
  }
  return node
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
