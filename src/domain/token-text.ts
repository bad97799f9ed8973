const MAX_CHARACTERS = 64
/** A character takes up to four bytes, and invisible ones are removed. */
const MAX_BYTES = 16 * MAX_CHARACTERS
// Controls, bidirectional and zero-width characters are invisible and serve only to imitate other tokens.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu

/** Decodes a name or symbol for display: normalized, without invisible characters, of bounded length. */
export function shownText(raw: Uint8Array): string {
  const text = Buffer.from(raw.buffer, raw.byteOffset, Math.min(raw.length, MAX_BYTES)).toString('utf8')
  return cleanText(text)
}

export function cleanText(raw: string): string {
  // Normalizing and trimming come last, because removing a character can join the two around it.
  const visible = raw.toWellFormed().replaceAll('\ufffd', '').replace(INVISIBLE, '').normalize('NFC').trim()
  return [...visible].slice(0, MAX_CHARACTERS).join('').trim()
}
