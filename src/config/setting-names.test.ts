import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChainFamily } from '../domain/ids.ts'
import { CHAIN_SCHEMAS } from './chain-schema.ts'
import { exampleLine } from './example-lines.ts'
import { configSchema } from './schema.ts'

type Node = { properties?: Record<string, Node>; patternProperties?: Record<string, Node> }

const FAMILIES = Object.keys(CHAIN_SCHEMAS) as ChainFamily[]

for (const family of FAMILIES) {
  test(`every setting has a line to write, with a chain of the family ${family}`, () => {
    const paths = settingPaths(withChains(CHAIN_SCHEMAS[family] as Node), [])
    assert.ok(paths.length > 50)
    for (const settingPath of paths)
      assert.ok(exampleLine(settingPath, family) !== undefined, settingPath.join('.'))
  })
}

test('no two settings share a variable, however a chain is named', () => {
  const properties = Object.assign({}, ...FAMILIES.map((family) => CHAIN_SCHEMAS[family].properties))
  const settings = Object.keys(properties)
  assert.ok(settings.length > 5)
  // The worst names: those that swallow the beginning of another chain's setting.
  const beginnings = settings.flatMap((setting) =>
    setting.split('_').map((_, at, words) => words.slice(0, at).join('_')),
  )
  const chains = [
    ...new Set(['a', ...beginnings.filter((words) => words !== '').map((words) => `a_${words}`)]),
  ]
  const names = settingNames(withChains({ properties }), 'CHAINTAPE', chains)
  assert.ok(names.length > chains.length * settings.length)
  assert.deepEqual(
    names.filter((name, at) => names.indexOf(name) !== at),
    [],
  )
})

/** The schema with these settings of a chain. */
function withChains(chain: Node): Node {
  const chains = { patternProperties: { '.*': chain } }
  return { properties: { ...(configSchema as Node).properties, chains } }
}

function settingNames(node: Node, prefix: string, chains: readonly string[]): string[] {
  const member = Object.values(node.patternProperties ?? {})[0]
  const children: [string, Node][] =
    member === undefined ? Object.entries(node.properties ?? {}) : chains.map((name) => [name, member])
  if (children.length === 0) return [prefix]
  return children.flatMap(([name, child]) => settingNames(child, `${prefix}_${name.toUpperCase()}`, chains))
}

function settingPaths(node: Node, at: readonly string[]): (readonly string[])[] {
  const member = Object.values(node.patternProperties ?? {})[0]
  const children: [string, Node][] =
    member === undefined ? Object.entries(node.properties ?? {}) : [['some', member]]
  const inner = children.flatMap(([name, child]) => settingPaths(child, [...at, name]))
  return at.length === 0 ? inner : [at, ...inner]
}
