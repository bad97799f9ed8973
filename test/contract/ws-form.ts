/** How the tables of WebSocket messages write down what a message looks like. */

/** `string!` is one that must not be empty; a text in quotes is that very text; `?` at the end of a name: may be missing. */
export type Form = string | readonly [Form] | { readonly [field: string]: Form }

/** What does not fit, each with its place. */
export function misfits(form: Form, value: unknown, place = ''): string[] {
  if (typeof form === 'string')
    return fitsWord(form, value) ? [] : [`${place}: ${JSON.stringify(value)} is not ${form}`]
  if (Array.isArray(form)) {
    if (!Array.isArray(value) || value.length === 0) return [`${place} is no filled array`]
    return value.flatMap((each, index) => misfits(form[0] as Form, each, `${place}/${index}`))
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${place} is no object`]
  const fields = new Map(Object.entries(form).map(([name, each]) => [name.replace('?', ''), each]))
  const known = value as Record<string, unknown>
  const missing = Object.keys(form).filter((name) => !name.endsWith('?') && !Object.hasOwn(known, name))
  return [
    ...missing.map((name) => `${place}/${name} is missing`),
    ...Object.entries(known).flatMap(([name, each]) => {
      const expected = fields.get(name)
      return expected === undefined
        ? [`${place}/${name} is too much`]
        : misfits(expected, each, `${place}/${name}`)
    }),
  ]
}

function fitsWord(word: string, value: unknown): boolean {
  switch (word) {
    case 'string':
      return typeof value === 'string'
    case 'string!':
      return typeof value === 'string' && value !== ''
    case 'decimal':
      return typeof value === 'string' && /^-?(0|[1-9]\d*)(\.\d*[1-9])?$/.test(value)
    case 'address':
      return typeof value === 'string' && /^(0x[0-9a-f]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/.test(value)
    case 'event id':
      return typeof value === 'string' && /^\d+-\d+$/.test(value)
    case 'integer':
      return Number.isSafeInteger(value)
    case 'seconds':
      return Number.isSafeInteger(value) && Number(value) < 1e11
    case 'milliseconds':
      return Number.isSafeInteger(value) && Number(value) > 1e12
    case 'number':
      return typeof value === 'number'
    case 'boolean':
      return typeof value === 'boolean'
    case 'names':
      return Array.isArray(value) && value.every((name) => typeof name === 'string')
    case 'anything':
      return value !== undefined
    case 'null':
      return value === null
    default:
      return word === JSON.stringify(value) || word.split('|').includes(JSON.stringify(value))
  }
}

/** What the world of the tests calls its tokens and pairs. */
export type Names = {
  readonly pair: string
  readonly stablePair: string
  readonly token: string
  readonly native: string
  /** Epoch of the chain's log: part of every cursor. */
  readonly epoch: string
}
