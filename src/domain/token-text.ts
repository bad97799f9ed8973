const MAX_CHARACTERS = 64
/** A character takes up to four bytes, and some of them may not be shown. */
const MAX_BYTES = 16 * MAX_CHARACTERS
// Controls, bidirectional and zero-width characters: invisible, and good only for looking like another token.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu

/** What may be shown of a name or symbol: one normal form, nothing invisible, of bounded length. */
export function shownText(raw: Uint8Array): string {
  const text = Buffer.from(raw.buffer, raw.byteOffset, Math.min(raw.length, MAX_BYTES)).toString('utf8')
  return cleanText(text)
}

export function cleanText(raw: string): string {
  // Only then normalised and only last trimmed: what is taken out may have stood between two that belong together.
  const visible = raw.toWellFormed().replaceAll('\ufffd', '').replace(INVISIBLE, '').normalize('NFC').trim()
  return [...visible].slice(0, MAX_CHARACTERS).join('').trim()
}
