const secrets = new Set<string>()
/** Shorter values would also hide ordinary words. */
const MIN_LENGTH = 6

/** Hides these values in everything the process logs or reports from now on. */
export function hideSecrets(values: Iterable<string>): void {
  for (const value of values) {
    if (value.length < MIN_LENGTH) continue
    secrets.add(value)
    // As the value stands inside a JSON string.
    secrets.add(JSON.stringify(value).slice(1, -1))
  }
}

/** The text without any secret. */
export function scrub(text: string): string {
  let clean = text
  for (const secret of secrets) if (clean.includes(secret)) clean = clean.replaceAll(secret, '[secret]')
  return clean
}
