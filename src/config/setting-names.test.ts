import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exampleLine } from './example-lines.ts'
import { configSchema } from './schema.ts'

type Node = { properties?: Record<string, Node>; patternProperties?: Record<string, Node> }

test('every setting has a line to write', () => {
  const paths = settingPaths(configSchema as Node, [])
  assert.ok(paths.length > 50)
  for (const settingPath of paths) assert.ok(exampleLine(settingPath) !== undefined, settingPath.join('.'))
})

test('no two settings share a variable, however a chain is named', () => {
  const member = Object.values(configSchema.properties.chains.patternProperties)[0] as Node
  const settings = Object.keys(member.properties ?? {})
  assert.ok(settings.length > 5)
  // The worst names: those that swallow the beginning of another chain's setting.
  const beginnings = settings.flatMap((setting) =>
    setting.split('_').map((_, at, words) => words.slice(0, at).join('_')),
  )
  const chains = [
    ...new Set(['a', ...beginnings.filter((words) => words !== '').map((words) => `a_${words}`)]),
  ]
  const names = settingNames(configSchema as Node, 'CHAINTAPE', chains)
  assert.ok(names.length > chains.length * settings.length)
  assert.deepEqual(
    names.filter((name, at) => names.indexOf(name) !== at),
    [],
  )
})

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
