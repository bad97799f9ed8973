/**
 * Encoding of a record's field in a CHANGES message. `?` marks an optional field, `number` one whose slot holds the
 * value itself, because the message does not contain it.
 */
export type FieldKind =
  | 'byte'
  | 'varuint'
  | 'biguint'
  | 'signed'
  | 'text'
  | 'id'
  | 'byte?'
  | 'varuint?'
  | 'biguint?'
  | 'text?'
  | 'id?'
  | 'number'

/** Optional groups of fields have a name of their own. */
export type FieldDeclarations = { readonly [name: string]: FieldKind | Readonly<Record<string, FieldKind>> }

export type FieldName<F> = {
  [K in keyof F & string]: F[K] extends string ? K : `${K}.${keyof F[K] & string}`
}[keyof F & string]

/**
 * The slots that hold a record's field offsets: one per field, after the record's type, start and end. A slot holds the
 * field's offset in the message, or 0 if the field is absent.
 */
export type RecordLayout<Name extends string = string> = {
  /** The type of the change in the message. */
  readonly type: number
  readonly slots: Readonly<Record<Name, number>>
  readonly kinds: Readonly<Record<Name, FieldKind>>
  /** Number of slots of a record. */
  readonly size: number
  /** For the scanner: an operation per slot, and the size of each group at its first slot. */
  readonly operations: Uint8Array
  readonly groupSizes: Uint8Array
}

/** The slots that every record has. */
export const TYPE = 0
export const START = 1
export const END = 2
export const FIRST_FIELD = 3

export const OPERATION = { byte: 0, varuint: 1, biguint: 2, signed: 3, text: 4, id: 5, number: 6 } as const
/** Added to the operation of an optional field. */
export const OPTIONAL = 8
export const GROUP = 16

export function defineLayout<const F extends FieldDeclarations>(
  type: number,
  fields: F,
): RecordLayout<FieldName<F>> {
  const slots: Record<string, number> = {}
  const kinds: Record<string, FieldKind> = {}
  const operations: number[] = []
  const groupSizes: number[] = []
  const add = (name: string, kind: FieldKind): void => {
    slots[name] = FIRST_FIELD + Object.keys(slots).length
    kinds[name] = kind
    operations.push(operationOf(kind))
    groupSizes.push(0)
  }
  for (const [name, declared] of Object.entries(fields)) {
    if (typeof declared === 'string') {
      add(name, declared)
      continue
    }
    const members = Object.entries(declared)
    operations.push(GROUP)
    groupSizes.push(members.length)
    for (const [member, kind] of members) {
      add(`${name}.${member}`, kind)
      kinds[`${name}.${member}`] = optional(kind)
    }
  }
  return {
    type,
    slots: slots as Record<FieldName<F>, number>,
    kinds: kinds as Record<FieldName<F>, FieldKind>,
    size: FIRST_FIELD + Object.keys(slots).length,
    operations: Uint8Array.from(operations),
    groupSizes: Uint8Array.from(groupSizes),
  }
}

function operationOf(kind: FieldKind): number {
  return isOptional(kind)
    ? OPTIONAL + OPERATION[kind.slice(0, -1) as keyof typeof OPERATION]
    : OPERATION[kind as keyof typeof OPERATION]
}

function optional(kind: FieldKind): FieldKind {
  return isOptional(kind) ? kind : (`${kind}?` as FieldKind)
}

function isOptional(kind: FieldKind): boolean {
  return kind.endsWith('?')
}
