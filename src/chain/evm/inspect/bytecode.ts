/** One instruction; the operand of a PUSH is not an instruction. */
export type Instruction = {
  /** Offset in the code. */
  readonly at: number
  readonly op: number
  /** Operand of a PUSH. */
  readonly pushed: bigint | undefined
}

export const OP = {
  EXP: 0x0a,
  SUB: 0x03,
  DIV: 0x04,
  EQ: 0x14,
  ISZERO: 0x15,
  AND: 0x16,
  XOR: 0x18,
  SHL: 0x1b,
  SHR: 0x1c,
  CALLER: 0x33,
  SLOAD: 0x54,
  JUMP: 0x56,
  JUMPI: 0x57,
  JUMPDEST: 0x5b,
  PUSH0: 0x5f,
  PUSH32: 0x7f,
  DUP1: 0x80,
  DUP16: 0x8f,
  SWAP1: 0x90,
  SWAP16: 0x9f,
  CALL: 0xf1,
  CALLCODE: 0xf2,
  DELEGATECALL: 0xf4,
  STATICCALL: 0xfa,
  SELFDESTRUCT: 0xff,
} as const

/** STOP, RETURN, REVERT, INVALID, SELFDESTRUCT. */
const HALTS: ReadonlySet<number> = new Set([0x00, 0xf3, 0xfd, 0xfe, OP.SELFDESTRUCT])
/** No chain allows larger contracts. */
const MAX_CODE_BYTES = 256 * 1024
const MAX_METADATA_BYTES = 1_024

export function isPush(op: number): boolean {
  return op >= OP.PUSH0 && op <= OP.PUSH32
}

/** Whether execution never continues with the next instruction. */
export function endsHere(op: number): boolean {
  return op === OP.JUMP || HALTS.has(op)
}

export function readInstructions(code: Uint8Array): Instruction[] {
  const bytes = withoutMetadata(code.subarray(0, MAX_CODE_BYTES))
  const instructions: Instruction[] = []
  for (let at = 0; at < bytes.length; ) {
    const op = bytes[at] as number
    const size = isPush(op) ? op - OP.PUSH0 : 0
    instructions.push({
      at,
      op,
      pushed: isPush(op) ? uintOf(bytes.subarray(at + 1, at + 1 + size), size) : undefined,
    })
    at += 1 + size
  }
  return instructions
}

/**
 * Compilers append a CBOR map (compiler, source hash) and its length in two bytes. It is data: read as code, it could
 * contain any instruction.
 */
function withoutMetadata(code: Uint8Array): Uint8Array {
  if (code.length < 4) return code
  const size = ((code.at(-2) as number) << 8) | (code.at(-1) as number)
  const start = code.length - 2 - size
  if (size > MAX_METADATA_BYTES || start < 0) return code
  const metadata = Buffer.from(code.subarray(start, -2))
  // A map of one to four entries, or Vyper's list; each names the compiler.
  const first = metadata[0] as number
  const isCollection = (first & 0xf0) === 0xa0 || (first & 0xf0) === 0x80
  const isNamed = ['solc', 'ipfs', 'bzzr', 'vyper', 'experimental'].some((key) => metadata.includes(key))
  return isCollection && isNamed ? code.subarray(0, start) : code
}

/** Code that ends within a PUSH is padded with zeros. */
function uintOf(bytes: Uint8Array, size: number): bigint {
  let value = 0n
  for (let i = 0; i < size; i++) value = (value << 8n) | BigInt(bytes[i] ?? 0)
  return value
}

/** Functions that the code dispatches to: selector to entry offset. */
export function dispatched(instructions: readonly Instruction[]): Map<string, number> {
  const found = new Map<string, number>()
  for (const [index, { op, pushed }] of instructions.entries()) {
    // Selectors with leading zeros are pushed in three bytes; shorter constants are rarely selectors.
    if (pushed === undefined || (op !== OP.PUSH0 + 4 && op !== OP.PUSH0 + 3)) continue
    const entry = comparedAndEntered(instructions, index + 1)
    const selector = `0x${pushed.toString(16).padStart(8, '0')}`
    if (entry !== undefined && !found.has(selector)) found.set(selector, entry)
  }
  return found
}

/** `[DUPn|SWAP1] EQ PUSH entry JUMPI`; or by difference, jumping over the function: `XOR PUSH next JUMPI entry`. */
function comparedAndEntered(instructions: readonly Instruction[], index: number): number | undefined {
  const first = instructions[index]?.op ?? 0
  let next = index + ((first >= OP.DUP1 && first <= OP.DUP16) || first === OP.SWAP1 ? 1 : 0)
  const compare = instructions[next++]?.op
  let entersOnJump = compare === OP.EQ
  if (!entersOnJump && compare !== OP.XOR && compare !== OP.SUB) return undefined
  if (instructions[next]?.op === OP.ISZERO) {
    entersOnJump = !entersOnJump
    next += 1
  }
  const target = instructions[next]?.pushed
  if (target === undefined || instructions[next + 1]?.op !== OP.JUMPI) return undefined
  return entersOnJump ? Number(target) : instructions[next + 2]?.at
}

/** Offsets of an operation in reachable code: after a halt or jump, code is dead until the next JUMPDEST. */
export function present(instructions: readonly Instruction[], wanted: number): number[] {
  const places: number[] = []
  let isLive = true
  for (const { at, op } of instructions) {
    if (op === OP.JUMPDEST) isLive = true
    if (isLive && op === wanted) places.push(at)
    if (endsHere(op)) isLive = false
  }
  return places
}
