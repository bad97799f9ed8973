import { BinaryWriter } from '@bufbuild/protobuf/wire'

/** Tags of the fields we send: number and wire type. */
const SLOTS = 18
const BLOCKS = 34
const COMMITMENT = 48
const PING = 74
const FROM_SLOT = 88
const KEY = 10
const VALUE = 18

const CONFIRMED = 1
const FILTER_NAME = 'chaintape'

export type Subscription = {
  /** Blocks contain only transactions that use one of these accounts. */
  readonly accounts: readonly string[]
  /** Replays from this slot on. */
  readonly fromSlot: number | undefined
}

/** Whole blocks with the transactions of these accounts, and every change of a slot's status. */
export function encodeSubscription({ accounts, fromSlot }: Subscription): Uint8Array {
  const writer = new BinaryWriter()
  writeFilter(writer, SLOTS, (filter) => {
    // Without it, finalized slots would not be reported to a subscriber of confirmed blocks.
    filter.uint32(8).bool(false)
    // Reports dead slots too.
    filter.uint32(16).bool(true)
  })
  writeFilter(writer, BLOCKS, (filter) => {
    for (const account of accounts) filter.uint32(10).string(account)
    filter.uint32(16).bool(true)
    filter.uint32(24).bool(false)
    filter.uint32(32).bool(false)
  })
  writer.uint32(COMMITMENT).int32(CONFIRMED)
  if (fromSlot !== undefined) writer.uint32(FROM_SLOT).uint64(fromSlot)
  return writer.finish()
}

/** Keeps the filters and shows the server that we are alive. */
export function encodePing(id: number): Uint8Array {
  const writer = new BinaryWriter()
  writer.uint32(PING).fork()
  writer.uint32(8).int32(id)
  return writer.join().finish()
}

/** An entry of a map from names to filters. */
function writeFilter(writer: BinaryWriter, tag: number, write: (filter: BinaryWriter) => void): void {
  writer.uint32(tag).fork()
  writer.uint32(KEY).string(FILTER_NAME)
  writer.uint32(VALUE).fork()
  write(writer)
  writer.join()
  writer.join()
}
