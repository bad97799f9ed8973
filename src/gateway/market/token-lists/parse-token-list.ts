import { ChaintapeError } from '../../../domain/errors.ts'
import { type ChainFamily, normaliseAddress } from '../../../domain/ids.ts'

/** A token's entry in the lists; a token on no list has no listing. */
export type Listing = {
  /** Where its picture is, for the client to fetch: we never do. */
  readonly logoUrl: string | undefined
  /** Whether a list has it with the tag `audited`, the only source of audits. */
  readonly isAudited: boolean
}

export type ListedChain = { readonly chain: string; readonly family: ChainFamily; readonly chainId: number }

/** By chain, then by address. */
export type Listings = ReadonlyMap<string, ReadonlyMap<string, Listing>>

const AUDITED_TAG = 'audited'
const MAX_URL_LENGTH = 512
/** Schemes that a browser loads a picture from without executing anything or revealing more than the address. */
const PICTURE_SCHEMES = new Set(['https:', 'ipfs:'])

/** A list in the format of tokenlists.org: entries of chains that are not served, and those that make no sense, are left out. */
export function parseTokenList(text: string, chains: readonly ListedChain[]): Listings {
  const byId = Map.groupBy(chains, ({ chainId }) => chainId)
  const listings = new Map(chains.map(({ chain }) => [chain, new Map<string, Listing>()]))
  for (const entry of entriesOf(text)) {
    if (!isRecord(entry) || typeof entry['address'] !== 'string') continue
    const { address: given, chainId, logoURI, tags } = entry
    for (const { chain, family } of byId.get(chainId as number) ?? []) {
      const address = normaliseAddress(family, 'token', given as string)
      if (address === undefined) continue
      listings.get(chain)?.set(address, {
        logoUrl: pictureUrl(logoURI),
        isAudited: Array.isArray(tags) && tags.includes(AUDITED_TAG),
      })
    }
  }
  return listings
}

/** As given, if a client can be sent there. */
export function pictureUrl(given: unknown): string | undefined {
  if (typeof given !== 'string' || given.length > MAX_URL_LENGTH) return undefined
  const url = URL.parse(given)
  if (url === null || !PICTURE_SCHEMES.has(url.protocol) || url.hostname === '') return undefined
  return url.username === '' && url.password === '' ? url.href : undefined
}

function entriesOf(text: string): readonly unknown[] {
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch (error) {
    throw new ChaintapeError('token_list_unreadable', 'the list is not valid JSON', { cause: error })
  }
  const entries = isRecord(list) ? list['tokens'] : undefined
  if (!Array.isArray(entries))
    throw new ChaintapeError('token_list_unreadable', 'the list has no tokens array')
  return entries
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
