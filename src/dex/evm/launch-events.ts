import type { RawLog } from '../../domain/envelope.ts'
import type { TokenLaunched } from '../events.ts'
import type { EventReaders, Inquiry, Protocol, ReadEvent } from '../protocol.ts'
import { addressAt, isTextAt, listAt, topicAddress } from './abi.ts'

/** The parameters of an event by which a platform reports a new token. Numbers are words of the data. */
export type LaunchLayout = {
  /** How many addresses are indexed. */
  readonly indexed: number
  /** The token is the first indexed parameter or a word of the data. */
  readonly token: 'indexed' | number
  readonly addresses: readonly number[]
  /** Strings and byte strings. */
  readonly texts: readonly number[]
  readonly addressLists?: readonly number[]
}

/** A platform that reports tokens, and has no pools of its own. */
export function launchPlatform(tokenEvents: NonNullable<Protocol['tokenEvents']>): Protocol {
  return {
    announcements: {},
    events: {},
    tokenEvents,
    isSingleton: true,
    isLaunchPlatform: true,
    reserves: 'unknown',
    identify: noPool,
  }
}

/** Readers of events that report new tokens, by topic. */
export function tokenLaunches(layouts: Readonly<Record<string, LaunchLayout>>): EventReaders<TokenLaunched> {
  return Object.fromEntries(
    Object.entries(layouts).map(([topic, layout]) => [topic, readTokenLaunched(layout)]),
  )
}

function readTokenLaunched({ indexed, token: place, ...data }: LaunchLayout): ReadEvent<TokenLaunched> {
  const { addresses, texts, addressLists = [] } = data
  return (log: RawLog) => {
    const named = log.topics.slice(1).map(topicAddress)
    if (named.length !== indexed || named.includes(undefined)) return undefined
    if (addresses.some((index) => addressAt(log.data, index) === undefined)) return undefined
    if (texts.some((index) => !isTextAt(log.data, index))) return undefined
    if (addressLists.some((index) => listAt(log.data, index, addressAt) === undefined)) return undefined
    const token = place === 'indexed' ? named[0] : addressAt(log.data, place)
    return token === undefined ? undefined : { type: 'tokenLaunched', token }
  }
}

// biome-ignore lint/correctness/useYield: an inquiry that asks nothing
function* noPool(): Inquiry {
  return undefined
}
