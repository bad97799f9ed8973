import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CONTRACT_FLAGS, MAX_FINDING_LENGTH, MAX_FINDINGS } from '../../../domain/inspection.ts'
import { dispatched, OP, present, readInstructions } from './bytecode.ts'
import { findInCode } from './code-findings.ts'
import { KNOWN_FUNCTIONS } from './known-functions.ts'
import { minimalProxyTarget } from './proxy.ts'
import { Paths } from './reach.ts'

function code(...parts: string[]): Uint8Array {
  return Buffer.from(parts.join('').replaceAll(' ', ''), 'hex')
}

const read = (...parts: string[]) => readInstructions(code(...parts))
const reach = (entry: number, ...parts: string[]) => new Paths(read(...parts)).reachFrom(entry)

test('push data is not code', () => {
  assert.deepEqual(
    read('62 ff f4 5b 00 ff').map(({ at, op }) => [at, op]),
    [
      [0, 0x62],
      [4, 0x00],
      [5, 0xff],
    ],
  )
  assert.equal(read('61 12')[0]?.pushed, 0x1200n, 'past the end there are zeros')
  assert.equal(read('5f')[0]?.pushed, 0n)
})

test('compiler metadata is not code', () => {
  const metadata = `a264697066735822${'ff'.repeat(34)}64736f6c63430008 1e 00 33`
  assert.deepEqual(
    read('60 01 00', metadata).map(({ op }) => op),
    [0x60, 0x00],
  )
  // The same length at the end of something else.
  assert.equal(
    read('60 01 00', 'ff'.repeat(51), '00 33').filter(({ op }) => op === OP.SELFDESTRUCT).length,
    51,
  )
})

test('any bytes are read to their end, and what is found in them is bounded', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2_000, size: 'max' }), (bytes) => {
      const instructions = readInstructions(bytes)
      for (const [index, { at }] of instructions.entries()) {
        const before = instructions[index - 1]
        if (before !== undefined) assert.ok(at > before.at)
      }
      const { findings } = findInCode(bytes, ' of the implementation')
      for (const flag of CONTRACT_FLAGS) {
        assert.ok(findings[flag].length <= MAX_FINDINGS)
        for (const evidence of findings[flag]) assert.ok(evidence.length <= MAX_FINDING_LENGTH)
      }
    }),
    { numRuns: 300 },
  )
})

test('functions by the ways in which compilers dispatch', () => {
  const found = dispatched(
    read(
      '80 63 40c10f19 14 61 0100 57', // DUP1 PUSH4 EQ PUSH2 JUMPI
      '63 8456cb59 81 14 61 0200 57', // PUSH4 DUP2 EQ
      '80 63 80000000 11 61 0300 57', // half of a binary search: greater than
      '62 a9059c 81 14 60 40 57', // begins with a zero
      '63 18160ddd 81 18 61 0400 57 5b', // jumps over the function when it is another
      '63 deadbeef 50', // only a number
    ),
  )
  assert.deepEqual(
    [...found],
    [
      ['0x40c10f19', 0x100],
      ['0x8456cb59', 0x200],
      ['0x00a9059c', 0x40],
      ['0x18160ddd', 53],
    ],
  )
})

test('behind an end nothing is code until it can be jumped to', () => {
  assert.deepEqual(present(read('00 ff 5b ff'), OP.SELFDESTRUCT), [3])
})

test('calls are found through functions that return to where they were called from', () => {
  // 0: PUSH1 06 (return to) PUSH1 0a JUMP; 5: INVALID; 6: JUMPDEST STOP; 8: JUMPDEST SELFDESTRUCT (nobody jumps here)
  // 10: JUMPDEST, six zeros and gas, CALL POP JUMP
  const program = ['60 06 60 0a 56 fe 5b 00 5b ff 5b', '5f 5f 5f 5f 5f 33 5a f1 50 56']
  const { calls, selfdestructs, isComplete } = reach(0, ...program)
  assert.deepEqual([...calls], [[18, 'CALL']])
  assert.deepEqual([...selfdestructs], [])
  assert.equal(isComplete, true)
  assert.deepEqual(findInCode(code(...program)).findings.selfdestruct, [])
})

test('a jump that cannot be followed is admitted; then what is there counts as reached', () => {
  const program = ['5f 35 56 5b ff'] // jumps to wherever its input says
  assert.equal(reach(0, ...program).isComplete, false)
  assert.deepEqual(findInCode(code(...program)).findings.selfdestruct, ['SELFDESTRUCT at 0x4'])
})

test('a call of a precompiled contract is not external', () => {
  assert.equal(reach(0, '5f 5f 5f 5f 60 01 5a fa').calls.size, 0)
  assert.equal(reach(0, '5f 5f 5f 5f 33 5a fa').calls.size, 1)
})

test('addresses that callers are compared with', () => {
  // SLOAD(7) masked to an address, EQ CALLER; then one that stands in the code.
  const mask = '60 01 60 01 60 a0 1b 03 16'
  const owner = 'ab'.repeat(20)
  const { callerChecks } = reach(0, '60 07 54', mask, '33 14 50', '73', owner, '33 14 50', '33 33 14 00')
  assert.deepEqual(
    callerChecks.map((check) => check.with),
    [{ slot: 7n, shift: 0 }, BigInt(`0x${owner}`)],
  )
  const packed = reach(0, '60 03 54 60 08 1c', mask, '33 03 00').callerChecks
  assert.deepEqual(packed[0]?.with, { slot: 3n, shift: 8 })
})

test('the search stops in code with too many paths', () => {
  // 0: goes on to 0x0b or not, leaving one of two places to return to each time: no two states are the same.
  const endless = code('5b 5f 35 60 0b 57 60 00 60 00 56', '5b 60 0b 60 00 56', '5b ff')
  assert.equal(new Paths(readInstructions(endless)).reachFrom(0).isComplete, false)
  const startedAt = performance.now()
  const { findings } = findInCode(endless)
  assert.ok(performance.now() - startedAt < 5_000)
  assert.deepEqual(findings.selfdestruct, ['SELFDESTRUCT at 0x12'], 'what may be reached counts')
})

test('minimal proxies', () => {
  const target = 'bebebebebebebebebebebebebebebebebebebebe'
  assert.equal(
    minimalProxyTarget(code(`363d3d373d3d3d363d73${target}5af43d82803e903d91602b57fd5bf3`)),
    `0x${target}`,
  )
  assert.equal(
    minimalProxyTarget(code(`3d3d3d3d363d3d37363d73${target}5af43d3d93803e602a57fd5bf3`)),
    `0x${target}`,
  )
  const vanity = 'be'.repeat(16)
  assert.equal(
    minimalProxyTarget(code(`363d3d373d3d3d363d6f${vanity}5af43d82803e903d91602757fd5bf3`)),
    `0x00000000${vanity}`,
  )
  assert.equal(minimalProxyTarget(code('6080604052')), undefined)
  assert.equal(minimalProxyTarget(code(`73${target}5a f1`)), undefined)
})

test('no function is known for two things', () => {
  assert.equal(
    new Set([...KNOWN_FUNCTIONS.values()].map(({ signature }) => signature)).size,
    KNOWN_FUNCTIONS.size,
  )
  assert.equal(KNOWN_FUNCTIONS.get('0x40c10f19')?.flag, 'mint')
  assert.equal(KNOWN_FUNCTIONS.get('0x8456cb59')?.flag, 'pause')
  assert.equal(KNOWN_FUNCTIONS.get('0x0ecb93c0')?.signature, 'addBlackList(address)')
})
