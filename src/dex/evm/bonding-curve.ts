import type { RawLog } from '../../domain/envelope.ts'
import { ZERO_ADDRESS } from '../../domain/known-addresses.ts'
import type { Swapped } from '../events.ts'
import type { DexDeployment } from '../protocol.ts'
import { addressAt } from './abi.ts'
import { keccakOfPacked } from './create2.ts'

/** What launch platforms have in common: one contract runs the bonding curves of all its tokens. */

/** What stands for the native coin where a quote asset is named. */
export const NATIVE = ZERO_ADDRESS

/** By topic: which word of an event's data is the token that is launched. */
export type TokenPlaces = Readonly<Record<string, number>>

/** A curve has no contract of its own: it is called by the hash of who runs it and of the token it sells. */
export function curveId(manager: string, token: string): string {
  return keccakOfPacked(word(manager), word(token))
}

/** The curve that an event of a platform is about. */
export function curveOf(log: RawLog, places: TokenPlaces): string | undefined {
  const token = launchedToken(log, places)
  return token === undefined ? undefined : curveId(log.address, token)
}

function launchedToken({ topics, data }: RawLog, places: TokenPlaces): string | undefined {
  const place = places[topics[0] ?? '']
  return place === undefined ? undefined : addressAt(data, place)
}

/** Whose curve has this id, by the event that named it: a hash does not tell what it was made of. */
export function curveNamed(
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

/** Somebody bought the token of a curve from it, or sold it back. */
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
    // Events name whose trade it is: the one who is paid. Who called the platform they do not say.
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
