import assert from 'node:assert/strict'

/**
 * An answer without its arrays `unknown`, which name exactly what has no value: a field that is named is left out, or empty
 * because the interface requires it.
 */
export function withoutUnknown<T>(answer: T): T {
  if (Array.isArray(answer)) return answer.map(withoutUnknown) as T
  if (typeof answer !== 'object' || answer === null) return answer
  const { unknown, ...fields } = answer as Record<string, unknown>
  if (Array.isArray(unknown)) {
    for (const name of unknown)
      assert.ok([undefined, '', 0].includes(fields[name] as undefined), String(name))
    assert.equal(new Set(unknown).size, unknown.length)
  }
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, withoutUnknown(value)])) as T
}
