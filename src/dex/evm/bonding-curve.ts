import type { RawLog } from '../../domain/envelope.ts'
import { ZERO_ADDRESS } from '../../domain/known-addresses.ts'
import type { LaunchEvent, PoolEvent, Swapped } from '../events.ts'
import type { DexDeployment, EventReaders, ReadEvent } from '../protocol.ts'
import { addressAt } from './abi.ts'
import { keccakOfPacked } from './create2.ts'

/** Common to launch platforms: one contract runs the bonding curves of all its tokens. */

/** Represents the native coin as a quote asset. */
export const NATIVE = ZERO_ADDRESS

/** Index of the data word with the launched token, by topic. */
export type TokenPlaces = Readonly<Record<string, number>>

/** A curve has no contract of its own, so its id is the hash of its platform and its token. */
export function curveId(manager: string, token: string): string {
  return keccakOfPacked(word(manager), word(token))
}

/** The curve of a platform's event. */
export function curveOf(log: RawLog, places: TokenPlaces): string | undefined {
  const token = launchedToken(log, places)
  return token === undefined ? undefined : curveId(log.address, token)
}

function launchedToken({ topics, data }: RawLog, places: TokenPlaces): string | undefined {
  const place = places[topics[0] ?? '']
  return place === undefined ? undefined : addressAt(data, place)
}

/** The tokens of the events that open and close curves, read as strictly as the events themselves. */
export function launchEventsOf(
  readers: EventReaders<PoolEvent>,
  places: TokenPlaces,
  { created, graduated }: { readonly created: string; readonly graduated: readonly string[] },
): EventReaders<LaunchEvent> {
  const reader =
    (topic: string, is: LaunchEvent['is']): ReadEvent<LaunchEvent> =>
    (log) => {
      const token = readers[topic]?.(log) === undefined ? undefined : launchedToken(log, places)
      return token === undefined ? undefined : { token, is }
    }
  const closing = graduated.map((topic) => [topic, reader(topic, 'graduated')])
  return { [created]: reader(created, 'created'), ...Object.fromEntries(closing) }
}

/** Resolves a curve id by the event that mentions it, because the id is a hash. */
export function resolveCurve(
  pool: string,
  deployments: readonly DexDeployment[],
  log: RawLog | undefined,
  places: TokenPlaces,
): { readonly factory: string; readonly token: string } | undefined {
  const token = log === undefined ? undefined : launchedToken(log, places)
  const factory = deployments.find((deployment) => deployment.factory === log?.address)?.factory
  if (token === undefined || factory === undefined || curveId(factory, token) !== pool) return undefined
  return { factory, token }
}

/** A purchase from a curve or a sale back to it. */
export function curveTrade(
  pool: string,
  account: string,
  isBuy: boolean,
  tokenRaw: bigint,
  quoteRaw: bigint,
): Swapped {
  return {
    type: 'swapped',
    pool,
    // Events report only the trader, who is also the recipient; the caller is known from the transaction alone.
    sender: undefined,
    recipient: account,
    token0: 0,
    token1: 1,
    delta0: isBuy ? -tokenRaw : tokenRaw,
    delta1: isBuy ? quoteRaw : -quoteRaw,
    price: undefined,
  }
}

function word(address: string): string {
  return `0x${address.slice(2).padStart(64, '0')}`
}
