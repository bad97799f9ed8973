import { Settings } from 'typebox/system'
import { Value } from 'typebox/value'
import type { ChainFamily } from '../domain/ids.ts'
import { nearestWord } from '../lib/arguments.ts'
import { CHAIN_SCHEMAS, chainSchema, familyIn } from './chain-schema.ts'
import { exampleLine, settingsIn } from './example-lines.ts'
import { configSchema } from './schema.ts'

const KINDS: Readonly<Record<string, string>> = {
  object: 'a mapping',
  array: 'a list',
  integer: 'an integer',
  string: 'text',
}

type SchemaError = ReturnType<typeof Value.Errors>[number]
/** The family of the chain that a setting belongs to. */
type FamilyOf = (path: readonly string[]) => ChainFamily | undefined
type Problem = { readonly path: readonly string[]; readonly text: string }

/** The problems of the settings, one per line, and lines of YAML that would be right. */
export function schemaProblems(tree: unknown): {
  readonly problems: readonly string[]
  readonly examples: readonly string[]
} {
  const familyOf: FamilyOf = ([section, name = '']) =>
    section === 'chains' ? familyIn(chainsIn(tree)[name]) : undefined
  const problems = describeErrors(allErrors(tree), familyOf)
  const examples = problems.flatMap(({ path }) => exampleLine(path, familyOf(path)) ?? [])
  return { problems: problems.map(({ text }) => text), examples: [...new Set(examples)] }
}

/** The validator stops at the eighth error; an operator wants to see all of them. */
function allErrors(tree: unknown): SchemaError[] {
  const { maxErrors } = Settings.Get()
  Settings.Set({ maxErrors: 1_000 })
  try {
    const chains = Object.entries(chainsIn(tree)).filter(([, chain]) => isMapping(chain))
    return [
      ...Value.Errors(configSchema, tree),
      ...chains.flatMap(([name, chain]) =>
        Value.Errors(chainSchema(chain), chain).map((error) => ({
          ...error,
          instancePath: `/chains/${name}${error.instancePath}`,
        })),
      ),
    ]
  } finally {
    Settings.Set({ maxErrors })
  }
}

function chainsIn(tree: unknown): Readonly<Record<string, unknown>> {
  const chains = isMapping(tree) ? tree['chains'] : undefined
  return isMapping(chains) ? chains : {}
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function describeErrors(errors: readonly SchemaError[], familyOf: FamilyOf): Problem[] {
  return errors.flatMap((error): Problem[] => {
    const path = error.instancePath.split('/').slice(1)
    const problem = (text: string, at = path): Problem => ({ path: at, text: `${at.join('.')} ${text}` })
    // Each member of a union says why it does not fit; the union itself says it better.
    if (error.schemaPath.includes('/anyOf/')) return []
    switch (error.keyword) {
      case 'required':
        return error.params.requiredProperties.map((name) => problem('is missing', [...path, name]))
      case 'boolean':
        return [problem(`is not a setting${explainUnknown(path, familyOf(path))}`)]
      // Repeats the 'boolean' error of each key.
      case 'additionalProperties':
        return []
      case 'anyOf':
        return [problem(`must be one of: ${allowedWords(errors, error.instancePath).join(', ')}`)]
      case 'minItems':
      case 'minLength':
      case 'minProperties':
        return [problem(error.params.limit === 1 ? 'must not be empty' : error.message)]
      case 'type':
        return [problem(`must be ${KINDS[String(error.params.type)] ?? error.params.type}`)]
      default:
        return [problem(error.message)]
    }
  })
}

function explainUnknown(path: readonly string[], family: ChainFamily | undefined): string {
  const section = path.slice(0, -1)
  const name = path.at(-1) ?? ''
  const families = family === undefined ? [] : (Object.keys(CHAIN_SCHEMAS) as ChainFamily[])
  const owner = families.find((each) => settingsIn(section, each).includes(name))
  if (owner !== undefined) return ` of the family ${family}; only ${owner} chains have it`
  const near = nearestWord(name, settingsIn(section, family))
  return near === undefined ? '' : `; did you mean ${[...section, near].join('.')}?`
}

function allowedWords(errors: readonly SchemaError[], instancePath: string): unknown[] {
  return errors.flatMap((error) =>
    error.keyword === 'const' && error.instancePath === instancePath ? [error.params.allowedValue] : [],
  )
}
