import { base58Text } from '../../domain/base58.ts'

/** A power of two, so that the slot is a mask of bytes in the middle: vanity keys share their first or last letters. */
const SLOTS = 8_192
const KEY_BYTES = 32

const recentTexts: string[] = new Array(SLOTS).fill('')
const recentKeys = new Uint8Array(SLOTS * KEY_BYTES)

/**
 * The base58 text of a key that recurs: a program, a pool, a mint. A key replaces the one in its slot, so that no stream
 * of keys fills the memory.
 */
export function recurringText(key: Uint8Array, at = 0): string {
  const slot = ((key[at + 15] as number) | ((key[at + 16] as number) << 8)) & (SLOTS - 1)
  const place = slot * KEY_BYTES
  let same = 0
  while (same < KEY_BYTES && recentKeys[place + same] === key[at + same]) same++
  const recent = recentTexts[slot] as string
  if (same === KEY_BYTES && recent !== '') return recent
  const text = base58Text(key, at)
  for (let nth = 0; nth < KEY_BYTES; nth++) recentKeys[place + nth] = key[at + nth] as number
  recentTexts[slot] = text
  return text
}
