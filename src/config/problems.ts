import { Settings } from 'typebox/system'
import { Value } from 'typebox/value'
import { nearestWord } from '../lib/arguments.ts'
import { exampleLine, settingsIn } from './example-lines.ts'
import { configSchema } from './schema.ts'

const KINDS: Readonly<Record<string, string>> = {
  object: 'a mapping',
  array: 'a list',
  integer: 'an integer',
  string: 'text',
}

type SchemaError = ReturnType<typeof Value.Errors>[number]
type Problem = { readonly path: readonly string[]; readonly text: string }

/** The problems of the settings, one per line, and lines of YAML that would be right. */
export function schemaProblems(tree: unknown): {
  readonly problems: readonly string[]
  readonly examples: readonly string[]
} {
  const problems = describeErrors(allErrors(tree))
  const examples = problems.flatMap(({ path }) => exampleLine(path) ?? [])
  return { problems: problems.map(({ text }) => text), examples: [...new Set(examples)] }
}

/** The validator stops at the eighth error; an operator wants to see all of them. */
function allErrors(tree: unknown): SchemaError[] {
  const { maxErrors } = Settings.Get()
  Settings.Set({ maxErrors: 1_000 })
  try {
    return Value.Errors(configSchema, tree)
  } finally {
    Settings.Set({ maxErrors })
  }
}

function describeErrors(errors: readonly SchemaError[]): Problem[] {
  return errors.flatMap((error): Problem[] => {
    const path = error.instancePath.split('/').slice(1)
    const problem = (text: string, at = path): Problem => ({ path: at, text: `${at.join('.')} ${text}` })
    // Each member of a union says why it does not fit; the union itself says it better.
    if (error.schemaPath.includes('/anyOf/')) return []
    switch (error.keyword) {
      case 'required':
        return error.params.requiredProperties.map((name) => problem('is missing', [...path, name]))
      case 'boolean':
        return [problem(`is not a setting${nearSetting(path)}`)]
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

function nearSetting(path: readonly string[]): string {
  const section = path.slice(0, -1)
  const near = nearestWord(path.at(-1) ?? '', settingsIn(section))
  return near === undefined ? '' : `; did you mean ${[...section, near].join('.')}?`
}

function allowedWords(errors: readonly SchemaError[], instancePath: string): unknown[] {
  return errors.flatMap((error) =>
    error.keyword === 'const' && error.instancePath === instancePath ? [error.params.allowedValue] : [],
  )
}
