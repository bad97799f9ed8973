import { ChaintapeError } from '../../domain/errors.ts'
import { MAX_IMPORTED_HOLDERS } from '../../domain/imported-balances.ts'
import { ZERO_ADDRESS } from '../../domain/known-addresses.ts'
import { isBalance } from '../../domain/limits.ts'

export const MAX_FILE_BYTES = 4_000_000
const LINE = /^\s*"?(0x[0-9a-fA-F]{40})"?\s*,\s*"?(\d{1,78})"?\s*$/
const HEADER = /^\s*"?[a-z_ ]+"?\s*,\s*"?[a-z_ ]+"?\s*$/i

/** Parses lines of `address,balance`, with balances in base units. A line that is anything else refuses the whole file. */
export function readBalances(text: string): Map<string, bigint> {
  const balances = new Map<string, bigint>()
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  for (const [index, line] of lines.entries()) {
    const at = `line ${index + 1}`
    if (line.trim() === '' || (index === 0 && HEADER.test(line))) continue
    const [, given = '', amount = ''] = LINE.exec(line) ?? []
    if (given === '') throw refused(`${at} is not 'address,balance' with the balance in base units`)
    const address = given.toLowerCase()
    const amountRaw = BigInt(amount)
    if (address === ZERO_ADDRESS) throw refused(`${at}: the zero address is no holder`)
    if (balances.has(address)) throw refused(`${at}: ${address} is listed twice`)
    if (!isBalance(amountRaw)) throw refused(`${at}: the balance exceeds 2^255`)
    if (balances.size >= MAX_IMPORTED_HOLDERS)
      throw refused(`${at}: a file can have at most ${MAX_IMPORTED_HOLDERS} holders`)
    balances.set(address, amountRaw)
  }
  if (balances.size === 0) throw refused('the file has no balances')
  return balances
}

export function refused(message: string): ChaintapeError {
  return new ChaintapeError('import_refused', message)
}
