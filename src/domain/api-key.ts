import { crc32 } from 'node:zlib'

/**
 * A key is `ctk_`, 30 random characters and a checksum of 6 characters. The prefix and the checksum let people and
 * secret scanners recognize a key offline.
 */
const PREFIX = 'ctk_'
const RANDOM_LENGTH = 30
const CHECKSUM_LENGTH = 6
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`)
const CHART_PREFIX = 'ctc_'
const ANYWHERE = new RegExp(`(${PREFIX}|${CHART_PREFIX})[0-9A-Za-z]{8,}`, 'g')
/** 30 base-62 characters hold 178 bits. The bytes are read as one large number, so the modulo bias is negligible. */
export const API_KEY_RANDOM_BYTES = 32

export function formatApiKey(random: Uint8Array): string {
  if (random.length < API_KEY_RANDOM_BYTES) throw new RangeError('a key needs more random bytes')
  const body = toDigits(random, RANDOM_LENGTH)
  return `${PREFIX}${body}${checksum(body)}`
}

/** A chart token has the same format with its own prefix. It gives access to the UDF datafeed only. */
export function formatChartToken(random: Uint8Array): string {
  return CHART_PREFIX + formatApiKey(random).slice(PREFIX.length)
}

/** Checks the format and the checksum only. Whether the key was issued is looked up by its digest. */
export function isApiKey(text: string): boolean {
  if (!FORM.test(text)) return false
  const body = text.slice(PREFIX.length, PREFIX.length + RANDOM_LENGTH)
  return text.endsWith(checksum(body))
}

/** Redacts keys in client input that is logged or echoed, in case a client put a key in the wrong field. */
export function withoutApiKeys(text: string): string {
  return text.replace(ANYWHERE, '$1...')
}

function checksum(body: string): string {
  let rest = crc32(body)
  let text = ''
  for (let at = 0; at < CHECKSUM_LENGTH; at++) {
    text = DIGITS.charAt(rest % DIGITS.length) + text
    rest = Math.floor(rest / DIGITS.length)
  }
  return text
}

function toDigits(bytes: Uint8Array, length: number): string {
  const base = BigInt(DIGITS.length)
  let number = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
  let text = ''
  for (let at = 0; at < length; at++) {
    text = DIGITS.charAt(Number(number % base)) + text
    number /= base
  }
  return text
}
