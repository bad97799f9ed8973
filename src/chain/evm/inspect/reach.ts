import { endsHere, type Instruction, OP } from './bytecode.ts'

/** An operand, if known: a constant, the caller, or a value from a storage slot. */
type Value = bigint | 'caller' | StoredValue | undefined
export type StoredValue = { readonly slot: bigint; readonly shift: number }

/** A comparison of the caller with an address. */
export type CallerCheck = { readonly at: number; readonly with: bigint | StoredValue }

export type Reached = {
  /** Calls of other contracts, except precompiles. */
  readonly calls: ReadonlyMap<number, 'CALL' | 'CALLCODE' | 'DELEGATECALL' | 'STATICCALL'>
  readonly selfdestructs: ReadonlySet<number>
  readonly callerChecks: readonly CallerCheck[]
  /** False if a jump could not be followed or a limit was reached: there may be more. */
  readonly isComplete: boolean
}

const CALLS = new Map([
  [OP.CALL, 'CALL'],
  [OP.CALLCODE, 'CALLCODE'],
  [OP.DELEGATECALL, 'DELEGATECALL'],
  [OP.STATICCALL, 'STATICCALL'],
] as const)
/** Hostile code can have any number of paths, so the analysis is bounded. */
const MAX_STEPS_PER_ENTRY = 60_000
const MAX_STEPS = 300_000
const MAX_STACK = 256
const MAX_OPEN_PATHS = 2_048
const LAST_PRECOMPILE = 0x1ffn
const WORD = (1n << 256n) - 1n

/** Stack effect of each operation, as `taken * 10 + put`; 0 if it has none. */
const EFFECTS = new Uint8Array(256)
for (const [effect, ops] of [
  [21, '01 02 03 04 05 06 07 0a 0b 10 11 12 13 14 16 17 18 1a 1b 1c 1d 20'],
  [31, '08 09 f0'],
  [11, '15 19 1e 31 35 3b 3f 40 49 51 54 5c'],
  [1, '30 32 33 34 36 38 3a 3d 41 42 43 44 45 46 47 48 4a 58 59 5a'],
  [30, '37 39 3e 5e a1'],
  [40, '3c a2'],
  [10, '50'],
  [20, '52 53 55 5d a0'],
  [50, 'a3'],
  [60, 'a4'],
  [71, 'f1 f2'],
  [61, 'f4 fa'],
  [41, 'f5'],
] as const) {
  for (const op of ops.split(' ')) EFFECTS[Number.parseInt(op, 16)] = effect
}

/** Reachability analysis of code from several entries, with one limit for all of them. */
export class Paths {
  readonly #instructions: readonly Instruction[]
  /** Jump destinations, and the index of each instruction. */
  readonly #destinations: ReadonlyMap<bigint, number>
  #stepsLeft = MAX_STEPS

  constructor(instructions: readonly Instruction[]) {
    this.#instructions = instructions
    this.#destinations = new Map(
      instructions.flatMap(({ at, op }, index) => (op === OP.JUMPDEST ? [[BigInt(at), index]] : [])),
    )
  }

  /**
   * Follows all paths from an offset, with as much of the stack as is known without executing: enough to follow the
   * jumps that compilers generate. Conditions are not evaluated: both branches are followed.
   */
  reachFrom(entry: number): Reached {
    const instructions = this.#instructions
    const destinations = this.#destinations
    const steps = Math.min(MAX_STEPS_PER_ENTRY, this.#stepsLeft)
    const calls = new Map<number, 'CALL' | 'CALLCODE' | 'DELEGATECALL' | 'STATICCALL'>()
    const selfdestructs = new Set<number>()
    const callerChecks = new Map<number, CallerCheck>()
    const seen = new Set<string>()
    const open: { index: number; stack: Value[] }[] = []
    let left = steps
    let isComplete = true

    const enter = (target: Value, stack: readonly Value[]): void => {
      const index = typeof target === 'bigint' ? destinations.get(target) : undefined
      if (index === undefined) {
        isComplete = false
        return
      }
      // Return addresses are on the stack; apart from those, a place need not be visited twice.
      let key = `${index}`
      // Copying the stack costs as much as this many instructions.
      left -= stack.length
      for (const value of stack) if (typeof value === 'bigint' && destinations.has(value)) key += ` ${value}`
      if (seen.has(key)) return
      if (open.length >= MAX_OPEN_PATHS) {
        isComplete = false
        return
      }
      seen.add(key)
      open.push({ index, stack: [...stack] })
    }

    const first = instructions.findIndex(({ at }) => at === entry)
    // Dispatchers leave the selector on the stack.
    if (first !== -1) open.push({ index: first, stack: [undefined] })
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      const { stack } = path
      for (let index = path.index; ; index++) {
        const instruction = instructions[index]
        if (instruction === undefined) break
        if (left-- <= 0 || stack.length > MAX_STACK) {
          isComplete = false
          break
        }
        const { at, op, pushed } = instruction
        if (pushed !== undefined) stack.push(pushed)
        else if (op >= OP.DUP1 && op <= OP.DUP16) stack.push(stack.at(OP.DUP1 - op - 1))
        else if (op >= OP.SWAP1 && op <= OP.SWAP16) swap(stack, op - OP.SWAP1 + 2)
        else if (op === OP.JUMP) enter(stack.pop(), stack)
        else if (op === OP.JUMPI) {
          const target = stack.pop()
          stack.pop()
          enter(target, stack)
        } else if (op === OP.SELFDESTRUCT) selfdestructs.add(at)
        else {
          const effect = EFFECTS[op] as number
          const taken: Value[] = []
          for (let count = effect; count >= 10; count -= 10) taken.push(stack.pop())
          const call = CALLS.get(op as typeof OP.CALL)
          if (call !== undefined && !isPrecompile(taken[1])) calls.set(at, call)
          const check = callerCheck(at, op, taken)
          if (check !== undefined) callerChecks.set(at, check)
          if (effect % 10 === 1) stack.push(result(op, taken))
        }
        if (endsHere(op)) break
      }
      if (left <= 0) break
    }
    if (open.length > 0) isComplete = false
    this.#stepsLeft = Math.max(0, this.#stepsLeft - (steps - left))
    return { calls, selfdestructs, callerChecks: [...callerChecks.values()], isComplete }
  }
}

function swap(stack: Value[], depth: number): void {
  while (stack.length < depth) stack.unshift(undefined)
  const top = stack.length - 1
  const other = stack.length - depth
  ;[stack[top], stack[other]] = [stack[other], stack[top]]
}

function isPrecompile(address: Value): boolean {
  return typeof address === 'bigint' && address > 0n && address <= LAST_PRECOMPILE
}

function callerCheck(at: number, op: number, taken: readonly Value[]): CallerCheck | undefined {
  if (op !== OP.EQ && op !== OP.SUB && op !== OP.XOR) return undefined
  const other = taken[0] === 'caller' ? taken[1] : taken[1] === 'caller' ? taken[0] : undefined
  if (other === undefined || other === 'caller') return undefined
  return { at, with: other }
}

/** Only the operations that mask and shift addresses, and those that compilers use in jumps. */
function result(op: number, [a, b]: readonly Value[]): Value {
  if (op === OP.CALLER) return 'caller'
  if (op === OP.SLOAD) return typeof a === 'bigint' ? { slot: a, shift: 0 } : undefined
  if (typeof a === 'bigint' && typeof b === 'bigint') return fold(op, a, b)
  if (op === OP.AND) return isKnown(a) ? a : isKnown(b) ? b : undefined
  if (op === OP.SHR && isStored(b) && typeof a === 'bigint')
    return { ...b, shift: b.shift + Number(a % 256n) }
  if (op === OP.DIV && isStored(a) && typeof b === 'bigint' && b > 0n)
    return { ...a, shift: a.shift + b.toString(2).length - 1 }
  return undefined
}

function fold(op: number, a: bigint, b: bigint): bigint | undefined {
  switch (op) {
    case OP.SUB:
      return (a - b) & WORD
    case OP.AND:
      return a & b
    case OP.SHL:
      return a < 256n ? (b << a) & WORD : 0n
    case OP.SHR:
      return a < 256n ? b >> a : 0n
    case OP.EXP:
      return b < 256n && a <= 256n ? (a ** b) & WORD : undefined
    default:
      return undefined
  }
}

function isStored(value: Value): value is StoredValue {
  return typeof value === 'object'
}

function isKnown(value: Value): value is 'caller' | StoredValue {
  return value === 'caller' || isStored(value)
}
