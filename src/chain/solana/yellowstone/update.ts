import { MessageReader } from './message-reader.ts'

/** A message of the stream, as far as we use it. */
export type Update =
  | { readonly kind: 'block'; readonly message: Uint8Array }
  | { readonly kind: 'slot'; readonly slot: number; readonly status: number }
  | { readonly kind: 'ping' }
  | { readonly kind: 'other' }

export const SLOT_FINALIZED = 2
export const SLOT_DEAD = 6

const OTHER: Update = { kind: 'other' }
const PING: Update = { kind: 'ping' }

export function decodeUpdate(bytes: Uint8Array): Update {
  let update: Update = OTHER
  const reader = new MessageReader(bytes)
  while (reader.isBefore(reader.end)) {
    const tag = reader.number()
    if (tag === 26) update = readSlot(reader)
    else if (tag === 42) update = { kind: 'block', message: reader.bytes() }
    else {
      if (tag === 50) update = PING
      reader.skip(tag)
    }
  }
  return update
}

function readSlot(reader: MessageReader): Update {
  let slot = 0
  let status = 0
  for (const end = reader.nested(); reader.isBefore(end); ) {
    const tag = reader.number()
    if (tag === 8) slot = reader.number()
    else if (tag === 24) status = reader.number()
    else reader.skip(tag)
  }
  return { kind: 'slot', slot, status }
}

/** The oldest slot from which the server can replay; undefined if it cannot. */
export function decodeReplayInfo(bytes: Uint8Array): number | undefined {
  let first: number | undefined
  const reader = new MessageReader(bytes)
  while (reader.isBefore(reader.end)) {
    const tag = reader.number()
    if (tag === 8) first = reader.number()
    else reader.skip(tag)
  }
  return first
}
