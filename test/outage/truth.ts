import { isDeepStrictEqual } from 'node:util'
import { parseCursor } from '../../src/gateway/ws/cursor.ts'

type Facts = ReadonlyMap<string, unknown>

/** What an undisturbed installation answered to each question while a block was its newest. */
export class Truth {
  readonly #answers = new Map<string, Map<number, unknown>>()
  #newest = 0

  get newest(): number {
    return this.#newest
  }

  add(block: number, path: string, body: unknown): void {
    const ofPath = this.#answers.get(path) ?? new Map<number, unknown>()
    this.#answers.set(path, ofPath.set(block, ordered(body)))
    this.#newest = Math.max(this.#newest, block)
  }

  /**
   * Undefined if all of the answer was true at one of these blocks: while it was put together a new one may have come,
   * and then a part of it may be of the block before. Else what was not true.
   */
  lieIn(path: string, body: unknown, from: number, to: number): string | undefined {
    const returned = ordered(body)
    const answers = this.#answers.get(path) ?? new Map<number, unknown>()
    const known: unknown[] = []
    for (let block = from; block <= to; block++) if (answers.has(block)) known.push(answers.get(block))
    if (known.length === 0) return `nothing is known of blocks ${from} to ${to}`
    if (known.some((answer) => isDeepStrictEqual(answer, returned))) return undefined
    const facts = known.map((answer) => factsOf(answer))
    for (const [name, value] of factsOf(returned)) {
      const expected = facts.map((each) => each.get(name))
      if (!expected.includes(value)) {
        const blocks = [...answers].filter(([, answer]) => factsOf(answer).get(name) === value)
        const elsewhere = blocks.map(([block]) => block).join(', ')
        return `${name} was returned as ${JSON.stringify(value)}, which it is at (${elsewhere}), but was ${JSON.stringify(expected)}`
      }
    }
    const missing = [...(facts[0]?.keys() ?? [])].find(
      (name) => facts.every((each) => each.has(name)) && !factsOf(returned).has(name),
    )
    return missing === undefined ? undefined : `${missing} is missing`
  }
}

/** Every single value, by its place. */
function factsOf(value: unknown, place = ''): Facts {
  if (typeof value !== 'object' || value === null) return new Map([[place, value]])
  const parts = Object.entries(value).flatMap(([name, part]) => [...factsOf(part, `${place}/${name}`)])
  return new Map(Array.isArray(value) ? [[`${place}/length`, value.length], ...parts] : parts)
}

/** Rows of tokens come in the order of a rank, which the writer brings up to date a moment later: by address instead. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) {
    const rows = value.map(ordered)
    const isOfTokens = rows.every((row) => typeof row === 'object' && row !== null && 'token' in row)
    const addressOf = (row: unknown): string => String((row as { token: unknown }).token)
    return isOfTokens ? rows.sort((a, b) => (addressOf(a) < addressOf(b) ? -1 : 1)) : rows
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, name === 'cursor' ? placesOf(part) : ordered(part)]),
  )
}

/**
 * The positions in a cursor, without epochs and checksums: each installation has logs of its own, and facts found in the
 * background enter them with different blocks.
 */
function placesOf(cursor: unknown): unknown {
  const places = typeof cursor === 'string' ? parseCursor(cursor) : undefined
  if (places === undefined) return cursor
  return [...places].map(([chain, { after, ...rest }]) => [chain, { ...after, epoch: '', link: 0 }, rest])
}
