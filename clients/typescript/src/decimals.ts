import { DECIMAL_FIELDS } from './generated/decimal-fields.ts'

export type DecimalField = (typeof DECIMAL_FIELDS)[number]

/** The same value with its decimal fields as numbers of another library. An unknown one is undefined. */
export type WithDecimals<T, D> = T extends readonly (infer Item)[]
  ? readonly WithDecimals<Item, D>[]
  : T extends object
    ? {
        readonly [Name in keyof T]: Name extends DecimalField
          ? DecimalOf<T[Name], D>
          : WithDecimals<T[Name], D>
      }
    : T

type DecimalOf<Text, D> = Text extends string ? D | undefined : Text extends undefined ? undefined : Text

const NAMES: ReadonlySet<string> = new Set(DECIMAL_FIELDS)

/**
 * Converts the decimal texts of a response or push, for example with `(text) => new Decimal(text)` of `decimal.js` or
 * `big.js`. All other fields stay as they are.
 */
export function withDecimals<T, D>(value: T, parse: (text: string) => D): WithDecimals<T, D> {
  return converted(value, parse) as WithDecimals<T, D>
}

function converted(value: unknown, parse: (text: string) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => converted(item, parse))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (typeof member !== 'string' || !NAMES.has(name)) return [name, converted(member, parse)]
      return [name, member === '' ? undefined : parse(member)]
    }),
  )
}
