const secrets = new Set<string>()
/** Shorter values would also redact ordinary words. */
const MIN_LENGTH = 6

/** Redacts these values from everything that the process logs or reports from now on. */
export function hideSecrets(values: Iterable<string>): void {
  for (const value of values) {
    if (value.length < MIN_LENGTH) continue
    secrets.add(value)
    // The value as it appears inside a JSON string.
    secrets.add(JSON.stringify(value).slice(1, -1))
  }
}

/** The text with all secrets redacted. */
export function scrub(text: string): string {
  let clean = text
  for (const secret of secrets) if (clean.includes(secret)) clean = clean.replaceAll(secret, '[secret]')
  return clean
}
