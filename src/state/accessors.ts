import { readId, writeId } from './id-words.ts'
import type { PlacedField } from './layout.ts'
import { readBigint, writeBigint } from './limbs.ts'
import type { Memory } from './memory.ts'

/** The cursor's view of a row: `base` is the row's first word. */
type Standing = { readonly memory: Memory; readonly words: Uint32Array; readonly base: number }

/** Getter and setter of a property, called with the cursor as `this`. */
type Accessor = {
  readonly get: (this: Standing) => unknown
  readonly set?: (this: Standing, value: never) => void
}

/**
 * The properties of a field: its value, `<name>At` if the position of its words is of use, and `has<Name>` if it is
 * optional. V8 inlines them; generated classes with literal offsets measured the same.
 */
export function accessorsOf(place: PlacedField): Record<string, Accessor> {
  const { name, field, at } = place
  switch (field.kind) {
    case 'u32':
    case 'volatile':
      return { [name]: u32Accessor(name, at) }
    case 'i32':
      return { [name]: i32Accessor(name, at) }
    case 'flag':
      return { [name]: flagAccessor(place) }
    case 'uint':
      return { [name]: uintAccessor(at, field.limbs), [`${name}At`]: position(at) }
    case 'id':
      return { [name]: idAccessor(at), [`${name}At`]: position(at) }
    case 'bytes':
      return { [name]: bytesAccessor(name, at, field.max), [`${name}At`]: position(at) }
    case 'optional': {
      const value = accessorsOf({ ...place, field: field.of })
      const presence = `has${name.charAt(0).toUpperCase()}${name.slice(1)}`
      return { ...value, [name]: optionalAccessor(place, value[name]), [presence]: presenceAccessor(place) }
    }
    case 'repeated':
      return {}
  }
}

function u32Accessor(name: string, at: number): Accessor {
  return {
    get() {
      return this.words[this.base + at]
    },
    set(value: number) {
      if (value >>> 0 !== value) throw outOfRange(name, value)
      this.words[this.base + at] = value
    },
  }
}

function i32Accessor(name: string, at: number): Accessor {
  return {
    get() {
      return (this.words[this.base + at] as number) | 0
    },
    set(value: number) {
      if ((value | 0) !== value) throw outOfRange(name, value)
      this.words[this.base + at] = value
    },
  }
}

function flagAccessor({ bitAt, mask }: PlacedField): Accessor {
  return {
    get() {
      return ((this.words[this.base + bitAt] as number) & mask) !== 0
    },
    set(value: boolean) {
      setBit(this, bitAt, mask, value)
    },
  }
}

function uintAccessor(at: number, limbs: number): Accessor {
  return {
    get() {
      return readBigint(this.memory, this.base + at, limbs)
    },
    set(value: bigint) {
      writeBigint(this.memory, this.base + at, value, limbs)
    },
  }
}

function idAccessor(at: number): Accessor {
  return {
    get() {
      return readId(this.words, this.base + at)
    },
    set(value: string) {
      writeId(this.words, this.base + at, value)
    },
  }
}

/** The first word is the size. The getter returns a copy. */
function bytesAccessor(name: string, at: number, max: number): Accessor {
  return {
    get() {
      const start = (this.base + at + 1) * 4
      return this.memory.bytes.slice(start, start + (this.words[this.base + at] as number))
    },
    set(value: Uint8Array) {
      if (value.length > max) throw outOfRange(name, value.length)
      const start = (this.base + at + 1) * 4
      this.words[this.base + at] = value.length
      this.memory.bytes.set(value, start)
      this.memory.bytes.fill(0, start + value.length, start + max)
    },
  }
}

/** An absent value is all zeros, so that equal rows are equal bytes. */
function optionalAccessor({ bitAt, mask, at, words }: PlacedField, inner: Accessor | undefined): Accessor {
  const get = inner?.get as Accessor['get']
  const set = inner?.set as (this: Standing, value: unknown) => void
  return {
    get() {
      return ((this.words[this.base + bitAt] as number) & mask) === 0 ? undefined : get.call(this)
    },
    set(value: unknown) {
      if (value === undefined) this.words.fill(0, this.base + at, this.base + at + words)
      else set.call(this, value)
      setBit(this, bitAt, mask, value !== undefined)
    },
  }
}

function presenceAccessor({ bitAt, mask, at, words }: PlacedField): Accessor {
  return {
    get() {
      return ((this.words[this.base + bitAt] as number) & mask) !== 0
    },
    set(value: boolean) {
      if (!value) this.words.fill(0, this.base + at, this.base + at + words)
      setBit(this, bitAt, mask, value)
    },
  }
}

function position(at: number): Accessor {
  return {
    get() {
      return this.base + at
    },
  }
}

function setBit({ words, base }: Standing, bitAt: number, mask: number, isSet: boolean): void {
  const bits = words[base + bitAt] as number
  words[base + bitAt] = isSet ? bits | mask : bits & ~mask
}

function outOfRange(name: string, value: number): RangeError {
  return new RangeError(`${value} is out of the range of ${name}`)
}
