import { parseDocument } from 'yaml'

/** Problems whose text is the same for every file; texts of others may quote a value, which may be a password. */
const FIXED_TEXTS = new Set([
  'BAD_INDENT',
  'BLOCK_AS_IMPLICIT_KEY',
  'BLOCK_IN_FLOW',
  'DUPLICATE_KEY',
  'MISSING_CHAR',
  'MULTILINE_IMPLICIT_KEY',
  'TAB_AS_INDENT',
])

/** Parses YAML. Errors name the place and never quote the file. */
export function readYamlText(text: string): unknown {
  // Warnings would be printed with the line that they are about.
  const document = parseDocument(text, { logLevel: 'error' })
  const [error] = document.errors
  if (error !== undefined) {
    const [{ line, col } = { line: 1, col: 1 }] = error.linePos ?? []
    const problem = FIXED_TEXTS.has(error.code)
      ? error.message.split(' at line', 1)[0]
      : `invalid YAML (${error.code})`
    throw new Error(`${problem} at line ${line}, column ${col}`)
  }
  try {
    return document.toJS()
  } catch {
    throw new Error('invalid YAML: a value starts with *, which refers to a missing anchor; quote it')
  }
}
