import { ByteCursor } from '../../dex/solana/byte-cursor.ts'

/** The parts of an encoded transaction that decoding needs. */
export type WireTransaction = {
  /** The first of its signatures, which identifies it. */
  readonly signature: Uint8Array
  readonly keys: readonly Uint8Array[]
  readonly instructions: readonly WireInstruction[]
}

export type WireInstruction = {
  readonly program: number
  readonly accounts: Uint8Array
  readonly data: Uint8Array
}

const KEY_BYTES = 32
export const SIGNATURE_BYTES = 64
const HAS_VERSION = 0x80
const V0 = 0x80
const V1 = 0x81

/** Parses a transaction of any version (legacy, 0, 1). Undefined if it is malformed or of an unknown version. */
export function parseWireTransaction(bytes: Uint8Array): WireTransaction | undefined {
  return bytes[0] === V1 ? parseMessageFirst(bytes) : parseSignaturesFirst(bytes)
}

function parseSignaturesFirst(bytes: Uint8Array): WireTransaction | undefined {
  const cursor = new ByteCursor(bytes)
  const signatures = cursor.shortLength()
  const signature = cursor.bytes(SIGNATURE_BYTES)
  cursor.skip((signatures - 1) * SIGNATURE_BYTES)
  const first = cursor.u8()
  if ((first & HAS_VERSION) !== 0 && first !== V0) return undefined
  // A legacy message begins with its header, of three bytes.
  cursor.skip(first === V0 ? 3 : 2)
  const keys: Uint8Array[] = []
  for (let left = cursor.shortLength(); left > 0 && cursor.isValid; left--) keys.push(cursor.bytes(KEY_BYTES))
  cursor.skip(KEY_BYTES)
  const instructions: WireInstruction[] = []
  for (let left = cursor.shortLength(); left > 0 && cursor.isValid; left--) {
    const program = cursor.u8()
    const accounts = cursor.bytes(cursor.shortLength())
    const data = cursor.bytes(cursor.shortLength())
    instructions.push({ program, accounts, data })
  }
  // Lookup tables may follow; the node reports the keys that they loaded.
  return cursor.isValid && signatures > 0 ? { signature, keys, instructions } : undefined
}

/** Version 1 (SIMD-0385): lengths before contents, and signatures at the end. */
function parseMessageFirst(bytes: Uint8Array): WireTransaction | undefined {
  const cursor = new ByteCursor(bytes, 1)
  const signers = cursor.u8()
  cursor.skip(2)
  const configMask = cursor.u32()
  cursor.skip(KEY_BYTES)
  const instructionCount = cursor.u8()
  const keyCount = cursor.u8()
  const keys = Array.from({ length: keyCount }, () => cursor.bytes(KEY_BYTES))
  for (let mask = configMask; mask !== 0; mask &= mask - 1) cursor.skip(4)
  const headers = Array.from({ length: instructionCount }, () => ({
    program: cursor.u8(),
    accounts: cursor.u8(),
    data: cursor.u16(),
  }))
  const instructions = headers.map(({ program, accounts, data }) => ({
    program,
    accounts: cursor.bytes(accounts),
    data: cursor.bytes(data),
  }))
  const signature = cursor.bytes(SIGNATURE_BYTES)
  return cursor.isValid && signers > 0 ? { signature, keys, instructions } : undefined
}
