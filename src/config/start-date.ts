/** A day, or a moment of one; always UTC, so that it means the same on every machine. */
const PATTERN = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?Z)?$/

/** In Unix seconds; undefined if it is not written like a date, or if the calendar does not have it. */
export function parseStartDate(text: string): number | undefined {
  const ms = PATTERN.test(text) ? Date.parse(text) : Number.NaN
  // Date takes a 31st of February for a day in March.
  const isReal = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text.replace('Z', ''))
  return isReal ? ms / 1_000 : undefined
}
