import { type Hex, hexToBytes } from 'viem'

const MAX_CHARACTERS = 64
const WORD = 32
// Controls, bidirectional and zero-width characters: invisible, and good only for looking like another token.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu

/** A name or symbol as a token answers it: a `string`, or the `bytes32` of older tokens; anything else is empty. */
export function readTokenText(answer: Hex | undefined): string {
  if (answer === undefined) return ''
  const bytes = hexToBytes(answer)
  return cleanText(Buffer.from(textBytes(bytes)).toString('utf8'))
}

/** What may be shown: one normal form, nothing invisible, no unpaired surrogates, of bounded length. */
export function cleanText(raw: string): string {
  // Only then normalised and only last trimmed: what is taken out may have stood between two that belong together.
  const visible = raw.toWellFormed().replaceAll('\ufffd', '').replace(INVISIBLE, '').normalize('NFC').trim()
  return [...visible].slice(0, MAX_CHARACTERS).join('').trim()
}

function textBytes(bytes: Uint8Array): Uint8Array {
  if (bytes.length === WORD) {
    const end = bytes.indexOf(0)
    return end === -1 ? bytes : bytes.subarray(0, end)
  }
  const offset = smallUintAt(bytes, 0)
  const length = offset === undefined ? undefined : smallUintAt(bytes, offset)
  if (offset === undefined || length === undefined) return new Uint8Array()
  const start = offset + WORD
  // A hostile token may claim any length: what is shown is capped anyway, so no more than that is looked at.
  return bytes.subarray(start, Math.min(start + length, start + 4 * MAX_CHARACTERS))
}

function smallUintAt(bytes: Uint8Array, start: number): number | undefined {
  if (start + WORD > bytes.length) return undefined
  const word = Buffer.from(bytes.buffer, bytes.byteOffset + start, WORD)
  return word.subarray(0, WORD - 4).every((byte) => byte === 0) ? word.readUInt32BE(WORD - 4) : undefined
}
