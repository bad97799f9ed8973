import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'

/** The recorded bytes of each release, with the values that it read from them. */
const ROOT = resolve(import.meta.dirname, '../../bytes/releases')

export type ReleaseInfo = {
  readonly version: string
  /** By the name of the format. */
  readonly formats: Readonly<Record<string, string | number>>
}

/** JSON with bigints and bytes: `{"$n": "12"}` and `{"$b": "base64"}`. Undefined fields are left out. */
export function plainOf(value: unknown): unknown {
  // In a list, as JSON has it.
  if (value === undefined) return null
  if (typeof value === 'bigint') return { $n: String(value) }
  if (value instanceof Uint8Array) return { $b: Buffer.from(value).toString('base64') }
  if (value instanceof Map) return plainOf([...value])
  if (value instanceof Set) return plainOf([...value])
  if (Array.isArray(value)) return value.map(plainOf)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(fields.map(([name, field]) => [name, plainOf(field)]))
}

/** The inverse of `plainOf`. */
export function parsedOf(plain: unknown): unknown {
  if (Array.isArray(plain)) return plain.map(parsedOf)
  if (typeof plain !== 'object' || plain === null) return plain
  if ('$n' in plain) return BigInt(plain.$n as string)
  if ('$b' in plain) return Buffer.from(plain.$b as string, 'base64')
  return Object.fromEntries(Object.entries(plain).map(([name, field]) => [name, parsedOf(field)]))
}

/** The files of one release. */
export class Corpus {
  readonly dir: string

  constructor(version: string) {
    this.dir = join(ROOT, version)
  }

  static versions(): string[] {
    return existsSync(ROOT) ? readdirSync(ROOT).sort() : []
  }

  get exists(): boolean {
    return existsSync(this.dir)
  }

  get info(): ReleaseInfo {
    return JSON.parse(readFileSync(this.path('release.json'), 'utf8')) as ReleaseInfo
  }

  path(name: string): string {
    return join(this.dir, name)
  }

  write(name: string, value: unknown): void {
    const text = JSON.stringify(plainOf(value))
    const params = { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: text.length }
    mkdirSync(dirname(this.path(name)), { recursive: true })
    writeFileSync(this.path(`${name}.json.br`), brotliCompressSync(text, { params }))
  }

  read<T>(name: string): T {
    return parsedOf(this.readPlain(name)) as T
  }

  /** As it is in the file, for comparison with `plainOf` of what is read today. */
  readPlain(name: string): unknown {
    return JSON.parse(brotliDecompressSync(readFileSync(this.path(`${name}.json.br`))).toString())
  }
}

/**
 * Where a value of today lacks something of a recorded one, or differs from it; undefined if it only adds fields. Both
 * are plain.
 */
export function firstDifference(recorded: unknown, today: unknown, at = ''): string | undefined {
  if (typeof recorded !== 'object' || recorded === null)
    return Object.is(recorded, today)
      ? undefined
      : `${at}: ${JSON.stringify(today)}, not ${JSON.stringify(recorded)}`
  if (typeof today !== 'object' || today === null) return `${at}: ${JSON.stringify(today)}, not an object`
  if (Array.isArray(recorded) && (!Array.isArray(today) || today.length !== recorded.length))
    return `${at}: not a list of ${recorded.length}`
  for (const [name, field] of Object.entries(recorded)) {
    const different = firstDifference(field, (today as Record<string, unknown>)[name], `${at}/${name}`)
    if (different !== undefined) return different
  }
  return undefined
}
