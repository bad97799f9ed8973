import { parseArgs } from 'node:util'

export type OptionTable = Readonly<
  Record<string, { readonly type: 'string' | 'boolean'; readonly short?: string }>
>

export type Arguments<T extends OptionTable> = {
  readonly values: { readonly [Name in keyof T]?: T[Name]['type'] extends 'string' ? string : boolean }
  readonly positionals: readonly string[]
}

/** An invalid command line; the message suggests a correction. */
export class ArgumentError extends Error {}

/** Like node's `parseArgs`, but suggests the nearest name for an unknown option. */
export function parseArguments<T extends OptionTable>(args: readonly string[], options: T): Arguments<T> {
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options,
    allowPositionals: true,
    // Strict parsing would stop at the first unknown option.
    strict: false,
    tokens: true,
  })
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = token
    const option = Object.hasOwn(options, name) ? options[name] : undefined
    if (option === undefined) {
      throw new ArgumentError(
        `unknown option '${rawName}'${suggestion(
          rawName,
          Object.keys(options).map((known) => `--${known}`),
        )}`,
      )
    }
    if (option.type === 'boolean' && inlineValue) throw new ArgumentError(`${rawName} takes no value`)
    const isMissing = value === undefined || (!inlineValue && value.startsWith('-'))
    if (option.type === 'string' && isMissing) {
      throw new ArgumentError(`${rawName} needs a value: ${rawName} ${name.toUpperCase()}`)
    }
  }
  return { values: values as Arguments<T>['values'], positionals }
}

/** `; did you mean 'keys'?`, or an empty string if no known word is near. */
export function suggestion(word: string, known: readonly string[]): string {
  const near = nearestWord(word, known)
  return near === undefined ? '' : `; did you mean '${near}'?`
}

const MAX_ERRORS = 3

/** The known word with the fewest typos, if there are few enough to suggest it. */
export function nearestWord(word: string, known: readonly string[]): string | undefined {
  let nearest: string | undefined
  let fewest = Math.min(MAX_ERRORS, Math.max(1, Math.floor(word.length / 3))) + 1
  for (const each of known) {
    const errors = typingErrors(word.toLowerCase(), each.toLowerCase())
    if (errors < fewest) {
      fewest = errors
      nearest = each
    }
  }
  return nearest
}

/** Optimal string alignment distance: insertions, deletions, substitutions and swaps of adjacent letters. */
function typingErrors(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1]
      const isSwapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    beforeLast = last
    last = current
  }
  return last[b.length] ?? 0
}
