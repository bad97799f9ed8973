import { pow10, VALUE_DIGITS } from '../../domain/money.ts'
import { RecentlyUsed } from '../../domain/recently-used.ts'
import { type SearchTerm, searchTermsOf } from '../../domain/search-text.ts'
import type { ByteReader } from '../../wire/byte-reader.ts'
import type { ChangeSetIndex } from '../../wire/change-index.ts'
import { TOKEN } from '../../wire/change-layouts.ts'
import { TERM_KINDS, type TokenTerm } from './tables.ts'

const MAX_COUNT = 2n ** 64n - 1n
const ONE_DOLLAR = pow10(VALUE_DIGITS)
const { address, name, mainPairTvlUsd } = TOKEN.slots

/** Keyed by name and symbol. Deriving the terms takes longer than all other rows of a token. */
const recentTerms = new RecentlyUsed<readonly SearchTerm[]>(20_000)

/** The search terms of a token. */
export function termsOf({ reader, places }: ChangeSetIndex, base: number): TokenTerm[] {
  const [itsName, symbol] = [reader.at(places[base + name] as number).text(), reader.text()]
  const id = `${itsName.length}/${itsName}${symbol}`
  let terms = recentTerms.get(id)
  if (terms === undefined) {
    terms = searchTermsOf({ name: itsName, symbol })
    recentTerms.set(id, terms)
    recentTerms.evict()
  }
  const itsAddress = reader.at(places[base + address] as number).recurringId()
  const standing = wholeDollars(reader, places[base + mainPairTvlUsd] as number)
  return terms.map(({ kind, term }) => ({ kind: TERM_KINDS[kind], term, address: itsAddress, standing }))
}

/** For sorting: unknown values become 0, and values beyond the column its maximum. */
function wholeDollars(reader: ByteReader, valueAt: number): bigint {
  if (valueAt === 0) return 0n
  const dollars = reader.at(valueAt).biguint() / ONE_DOLLAR
  if (dollars > MAX_COUNT) return MAX_COUNT
  return dollars
}
