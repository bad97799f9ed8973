import { formatAmount, formatPrice, formatValue, type Price, type Value } from '../../domain/money.ts'

/** Decimal text of a number, or undefined for an unknown one: for the fields that are left out then. */
export function knownPrice(price: Price | undefined): string | undefined {
  return price === undefined ? undefined : formatPrice(price)
}

export function knownValue(value: Value | undefined): string | undefined {
  return value === undefined ? undefined : formatValue(value)
}

/** Base units mean nothing to a client without the token's decimals: such an amount counts as unknown. */
export function knownAmount(raw: bigint | undefined, decimals: number | undefined): string | undefined {
  return raw === undefined || decimals === undefined ? undefined : formatAmount(raw, decimals)
}

/** The same for the fields that the interface document lists: those are always present. */
export function priceText(price: Price | undefined): string {
  return knownPrice(price) ?? ''
}

export function valueText(value: Value | undefined): string {
  return knownValue(value) ?? ''
}

export function amountText(raw: bigint | undefined, decimals: number | undefined): string {
  return knownAmount(raw, decimals) ?? ''
}

type OptionalKeys<T> = { [Key in keyof T]: undefined extends T[Key] ? Key : never }[keyof T]

type Known<T> = { [Key in Exclude<keyof T, OptionalKeys<T>>]: T[Key] } & {
  [Key in OptionalKeys<T>]?: Exclude<T[Key], undefined>
}

/** An unknown field of ours is absent from the wire, never null. A plain loop: an answer may have hundreds of rows. */
export function leaveOutUnknown<T extends Record<string, unknown>>(fields: T): Known<T> {
  const known: Record<string, unknown> = {}
  for (const name in fields) {
    const value = fields[name]
    if (value !== undefined) known[name] = value
  }
  return known as Known<T>
}

/** The names of the fields that are not known: left out, or empty where the interface document lists them. */
export function unknownNames(fields: Readonly<Record<string, unknown>>): string[] {
  const names: string[] = []
  for (const name in fields) {
    if (fields[name] === undefined || fields[name] === '') names.push(name)
  }
  return names
}
