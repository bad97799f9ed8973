import { type MemberExpression, type Node, type PropertyKey, Visitor } from 'oxc-parser'
import type { Report, SourceFile } from './source.ts'

const forbiddenGlobals = new Map<string, string>()
for (const [reason, names] of Object.entries({
  'reads a clock': 'Date Temporal performance',
  'waits for a clock':
    'setTimeout setInterval setImmediate queueMicrotask clearTimeout clearInterval clearImmediate',
  'does I/O': 'fetch XMLHttpRequest WebSocket EventSource BroadcastChannel MessageChannel Worker console',
  'reads the environment': 'process navigator localStorage sessionStorage',
  'loads code': 'require eval Function WebAssembly',
  'reaches every global': 'globalThis global',
  'is random': 'crypto',
  'depends on the locale': 'Intl',
  'depends on the garbage collector': 'WeakRef FinalizationRegistry',
  'depends on other threads': 'Atomics SharedArrayBuffer',
})) {
  for (const name of names.split(' ')) forbiddenGlobals.set(name, reason)
}

const asyncNames = new Set(
  'Promise PromiseLike AsyncIterable AsyncIterator AsyncIterableIterator AsyncGenerator AbortSignal'.split(
    ' ',
  ),
)

const localeMember = /^(toLocale\w*|localeCompare)$/

/** No I/O, clock, randomness, environment or waiting: the same log must give the same bytes on any machine. */
export function checkPurity(file: SourceFile, report: Report): void {
  // An identifier that only names a property or an export refers to nothing.
  const labels = new WeakSet<Node>()
  const noteKey = (node: { key: PropertyKey; computed: boolean }) => {
    if (!node.computed) labels.add(node.key)
    const name = keyName(node.key)
    if (name !== undefined && localeMember.test(name))
      report(node.key.start, 'pure-global', `${name} depends on the locale`)
  }
  const checkAsync = (node: { async: boolean; start: number }) => {
    if (node.async) report(node.start, 'pure-async', 'the fold is synchronous: no async function')
  }

  new Visitor({
    Identifier: (node) => {
      if (labels.has(node)) return
      const reason = forbiddenGlobals.get(node.name)
      if (reason) report(node.start, 'pure-global', `${node.name} ${reason}`)
      if (asyncNames.has(node.name))
        report(node.start, 'pure-async', `the fold is synchronous: no ${node.name}`)
    },
    MemberExpression: (node) => {
      if (!node.computed) labels.add(node.property)
      const name = memberName(node)
      if (name === undefined) return
      if (localeMember.test(name)) report(node.start, 'pure-global', `${name} depends on the locale`)
      if (isMath(node.object) && name === 'random') report(node.start, 'pure-global', 'Math.random is random')
    },
    Property: noteKey,
    PropertyDefinition: noteKey,
    MethodDefinition: noteKey,
    TSPropertySignature: noteKey,
    TSMethodSignature: noteKey,
    TSQualifiedName: (node) => void labels.add(node.right),
    ImportSpecifier: (node) => void labels.add(node.imported),
    ExportSpecifier: (node) => void labels.add(node.exported),
    MetaProperty: (node) => {
      labels.add(node.meta)
      labels.add(node.property)
      if (node.meta.name === 'import') report(node.start, 'pure-global', 'import.meta reads the environment')
    },
    ImportExpression: (node) => report(node.start, 'pure-global', 'import() loads code'),
    FunctionDeclaration: checkAsync,
    FunctionExpression: checkAsync,
    ArrowFunctionExpression: checkAsync,
    AwaitExpression: (node) => report(node.start, 'pure-async', 'the fold is synchronous: no await'),
    ForOfStatement: (node) => {
      if (node.await) report(node.start, 'pure-async', 'the fold is synchronous: no for await')
    },
    VariableDeclaration: (node) => {
      if (node.kind === 'await using')
        report(node.start, 'pure-async', 'the fold is synchronous: no await using')
    },
  }).visit(file.parsed.program)
}

export function memberName(node: MemberExpression): string | undefined {
  return node.computed ? stringValue(node.property) : node.property.name
}

export function keyName(key: PropertyKey): string | undefined {
  return key.type === 'Identifier' ? key.name : stringValue(key)
}

export function isMath(node: Node): boolean {
  return node.type === 'Identifier' && node.name === 'Math'
}

function stringValue(node: Node): string | undefined {
  return node.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined
}
