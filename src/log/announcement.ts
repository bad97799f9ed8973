import { headers, type MsgHdrs } from '@nats-io/transport-node'

/**
 * Unix milliseconds at which the reader first heard of a block from a node. A header and not part of the message, because
 * the bytes of a message must not depend on a clock.
 */
const ANNOUNCED_AT = 'Chaintape-Announced-At'
/** Milliseconds up to the year 2286. */
const MILLISECONDS = /^\d{1,13}$/

export function announcementHeaders(announcedAt: number): MsgHdrs {
  const written = headers()
  written.set(ANNOUNCED_AT, String(announcedAt))
  return written
}

/** Undefined for a message that is no live block, or that was restored from an outbox, an archive or a backup. */
export function readAnnouncement(read: MsgHdrs | undefined): number | undefined {
  const value = read?.get(ANNOUNCED_AT) ?? ''
  return MILLISECONDS.test(value) ? Number(value) : undefined
}
