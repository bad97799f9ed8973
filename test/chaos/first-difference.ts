const SHOWN = 300

/** Where two lists differ first, with what each has there; undefined if they are equal. */
export function firstDifference(
  what: string,
  found: readonly unknown[],
  expected: readonly unknown[],
): string | undefined {
  const length = Math.max(found.length, expected.length)
  for (let at = 0; at < length; at++) {
    const [one, other] = [textOf(found[at]), textOf(expected[at])]
    if (one !== other) {
      const counts = `${found.length} and ${expected.length} in all`
      const [is, should] = [around(one, other), around(other, one)]
      return `${what}: the ${at + 1}th differs (${counts})\n  is        ${is}\n  should be ${should}`
    }
  }
  return undefined
}

/** The start of a text, and where it differs from the other one. */
function around(text: string, other: string): string {
  if (text.length <= 2 * SHOWN) return text
  let at = 0
  while (text[at] === other[at]) at++
  const start = `${text.slice(0, SHOWN)} …`
  return at < SHOWN / 2 ? start : `${start} ${text.slice(at - SHOWN / 2, at + SHOWN / 2)} …`
}

function textOf(value: unknown): string {
  if (typeof value === 'string' || value === undefined) return String(value)
  return JSON.stringify(value, (_, each: unknown) => {
    if (typeof each === 'bigint') return String(each)
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return each
    return Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}
