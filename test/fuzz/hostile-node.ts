import { encodeAbiParameters, type Hex, parseAbiParameters, toFunctionSelector } from 'viem'
import { KNOWN_FUNCTIONS, TRANSFER } from '../../src/chain/evm/inspect/known-functions.ts'
import { TRADER_CODE } from '../../src/chain/evm/inspect/trader-code.ts'
import { MULTICALL_CODE } from '../../src/chain/evm/rpc/multicall-code.ts'
import type { EvmNode } from '../../src/chain/evm/rpc/rpc.ts'
import { bindState } from '../../src/chain/evm/rpc/state-rpc.ts'
import type { EndpointSession } from '../../src/chain/rpc/endpoint-pool.ts'
import { RpcFailure } from '../../src/chain/rpc/rpc-failure.ts'
import type { Random } from './random.ts'
import { hexOf, randomWord } from './random-words.ts'

const TRADE_ALL = parseAbiParameters('bool[3], bytes[3]')
const OWN_ERRORS = ['Underpaid(uint256,uint256)', 'Empty()', 'Penniless()'].map((each) =>
  toFunctionSelector(each),
)
const ERRORS = [...OWN_ERRORS, '0x08c379a0', '0x4e487b71', '0x', '0xab', '0x01020304']
const SELECTORS = [...KNOWN_FUNCTIONS.keys(), TRANSFER]
const CODES = [TRADER_CODE, MULTICALL_CODE].map((code) => Buffer.from(code.slice(2), 'hex'))
const MAX_ANSWERED = 64
const HUGE_BYTES = 200_000
/** Characters whose normalized form is longer, shorter or empty. */
const CHARACTERS = ['\u{1f4a3}', 'a', '\u0000', '\u202e', '\ufdfa', 'e\u0301', '\ud83d', '\u{e0001}', '한']

/**
 * A node whose contracts return random data in well-formed responses. If `isNodeHostile`, responses are malformed at
 * times, too.
 */
export function hostileNode(random: Random, isNodeHostile: boolean): EvmNode {
  const session: EndpointSession = {
    label: 'hostile',
    request: async (method, params) => {
      if (random.chance(0.03)) throw new RpcFailure('reverted', 'execution reverted')
      if (isNodeHostile && random.chance(0.2)) return malformedResponse(random)
      return answerTo(random, method, params)
    },
    missedBlock: () => undefined,
    sawHead: () => undefined,
    unproved: () => undefined,
  }
  const node: Pick<EvmNode, 'runCode' | 'label' | 'unproved'> = {
    label: 'hostile',
    unproved: () => undefined,
    runCode: async (code) => (random.chance(0.05) ? undefined : manyAnswers(random, code)),
  }
  return { ...bindState(session), ...node } as EvmNode
}

/** Return data of a contract: random words, too few or too many bytes, or a string of any shape. */
export function randomAnswer(random: Random): Uint8Array | undefined {
  switch (random.below(8)) {
    case 0:
      return undefined
    case 1:
      return random.bytes(random.below(40))
    case 2:
      return random.chance(0.02) ? Buffer.alloc(HUGE_BYTES, random.below(256)) : Buffer.alloc(0)
    case 3: {
      const text = encodeText(random)
      return random.chance(0.7) ? text : text.subarray(0, random.below(text.length + 1))
    }
    default:
      return Buffer.concat(Array.from({ length: random.between(1, 6) }, () => randomWord(random)))
  }
}

function answerTo(random: Random, method: string, params: readonly unknown[]): unknown {
  switch (method) {
    case 'eth_getCode':
      return hexOf(randomCode(random))
    case 'eth_getStorageAt':
      return random.chance(0.5) ? `0x${'0'.repeat(64)}` : hexOf(randomWord(random))
    case 'eth_call': {
      const answers = [0, 1, 2].map(() => randomOutcome(random))
      const oks = answers.map(({ ok }) => ok) as [boolean, boolean, boolean]
      return encodeAbiParameters(TRADE_ALL, [oks, answers.map(({ data }) => data) as [Hex, Hex, Hex]])
    }
    case 'eth_simulateV1': {
      const { blockStateCalls } = params[0] as { blockStateCalls: readonly { calls: readonly unknown[] }[] }
      return blockStateCalls.map(({ calls }) => ({ calls: calls.map(() => randomSimulated(random)) }))
    }
    default:
      throw new Error(`unexpected method: ${method}`)
  }
}

function randomOutcome(random: Random): { ok: boolean; data: Hex } {
  const bytes = hexOf(randomAnswer(random) ?? Buffer.alloc(0)) as Hex
  if (random.chance(0.75)) return { ok: true, data: bytes }
  if (random.chance(0.3)) return { ok: false, data: `0x08c379a0${encodeText(random).toString('hex')}` }
  return { ok: false, data: `${random.pick(ERRORS)}${bytes.slice(2)}` as Hex }
}

function randomSimulated(random: Random): object {
  const { ok, data } = randomOutcome(random)
  const gasUsed = `0x${random.below(2 ** 40).toString(16)}`
  if (ok) return { status: '0x1', returnData: data, gasUsed }
  return random.chance(0.5)
    ? { status: '0x0', returnData: '0x', gasUsed, error: { data } }
    : { status: '0x0', returnData: data, gasUsed }
}

/** The format of MULTICALL_CODE: length plus one, then the return data up to the limit, for each call. */
function manyAnswers(random: Random, code: Hex): Hex {
  const args = Buffer.from(code.slice(MULTICALL_CODE.length), 'hex')
  const targetsAt = args.readUInt32BE(2 * 32 + 28)
  const count = args.readUInt32BE(targetsAt + 28)
  const parts: Uint8Array[] = []
  for (let each = 0; each < count; each++) {
    const answer = randomAnswer(random)?.subarray(0, MAX_ANSWERED)
    const length = Buffer.alloc(32)
    length.writeUInt32BE(answer === undefined ? 0 : answer.length + 1, 28)
    parts.push(length, answer ?? Buffer.alloc(0))
  }
  return hexOf(Buffer.concat(parts)) as Hex
}

/** No code, random bytes, damaged real code, or a dispatcher of functions that inspections look for. */
function randomCode(random: Random): Uint8Array {
  switch (random.below(8)) {
    case 0:
      return Buffer.alloc(0)
    case 1:
      return random.bytes(random.below(300))
    case 2: {
      const code = Buffer.from(random.pick(CODES))
      for (let flips = random.below(30); flips > 0; flips--)
        code[random.below(code.length)] = random.below(256)
      return code
    }
    default: {
      // DUP1 PUSH4 <selector> EQ PUSH2 <entry> JUMPI, then the functions.
      const dispatcher = Array.from({ length: random.between(1, 12) }, () => [
        ...[0x80, 0x63, ...Buffer.from(random.pick(SELECTORS).slice(2), 'hex')],
        ...[0x14, 0x61, 0, random.below(256), 0x57],
      ]).flat()
      const bodies = Array.from({ length: random.between(0, 12) }, () => randomBody(random)).flat()
      return Uint8Array.from([...dispatcher, 0xfe, ...bodies])
    }
  }
}

/** JUMPDEST, a pattern that inspections detect, and a terminator. */
function randomBody(random: Random): number[] {
  const slot = random.below(8)
  const checks = [
    [0x33, 0x60, slot, 0x54, 0x14], // compares the caller with a storage slot
    [0x33, 0x73, ...random.bytes(20), 0x14], // compares the caller with a constant
    [0x5a, 0xf1],
    [0x5a, 0xf4],
    [0xff],
    [...random.bytes(random.below(8))],
  ]
  return [0x5b, ...random.pick(checks), random.pick([0x00, 0xfd, 0xf3])]
}

function encodeText(random: Random): Buffer {
  const length = random.below(random.chance(0.05) ? 4_000 : 90)
  // Often one repeated character, to reach every length limit.
  const characters = random.chance(0.5) ? [random.pick(CHARACTERS)] : CHARACTERS
  const text = Buffer.from(Array.from({ length }, () => random.pick(characters)).join(''))
  const claimed = random.chance(0.8)
    ? BigInt(text.length)
    : BigInt(`0x${Buffer.from(random.bytes(8)).toString('hex')}`)
  const word = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
  return Buffer.concat([word(32n), word(claimed), text])
}

function malformedResponse(random: Random): unknown {
  return random.pick([
    null,
    undefined,
    7,
    '',
    '0x',
    '0xzz',
    '0x123',
    [],
    {},
    [{}],
    [{ calls: [null] }],
    'x'.repeat(99),
  ])
}
