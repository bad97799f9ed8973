import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ChainAddress, formatChainAddress } from '../../domain/ids.ts'
import type { LookUps } from '../market/look-ups.ts'

/** Response header: ids of the request that are unknown but may become known, separated by commas. */
export const PENDING_IDS = 'x-pending-ids'
/** Headers are short; the others are looked up all the same. */
const MAX_SHOWN = 20

/** Has the unknown ids of a batch looked up, which never waits for them, and reports those that may become known. */
export function reportPending(
  lookUps: LookUps,
  { grant }: Pick<FastifyRequest, 'grant'>,
  reply: Pick<FastifyReply, 'header'>,
  refs: readonly ChainAddress[],
  isKnown: (id: string) => boolean,
): void {
  const pending = refs.flatMap((ref) => {
    const id = formatChainAddress(ref.address, ref.chain)
    return !isKnown(id) && lookUps.note(ref, grant?.keyId) ? id : []
  })
  if (pending.length > 0) reply.header(PENDING_IDS, pending.slice(0, MAX_SHOWN).join(','))
}
