import { isUtf8 } from 'node:buffer'
import { isTooDeep } from '../../src/gateway/http/json-depth.ts'
import { DEFAULT_WS_LIMITS } from '../../src/gateway/ws/limits.ts'
import type { Random } from './random.ts'
import { goodDoor, oddDoor } from './ws-doors.ts'
import { closeFrame, controlFrame, encodeFrame, encodeMessage, OPCODE, violation } from './ws-frames.ts'
import { authMessage, authWith, type Message, makeMessage, type WsTarget } from './ws-messages.ts'

/** One thing that is sent. */
export type Step = {
  readonly bytes: Buffer
  /** Where the bytes are torn apart, if they are. */
  readonly cut: number | undefined
  /** The id, or the ids, that its one answer must have, as JSON; undefined if there is none. */
  readonly answer: string | undefined
  /** Nothing stands in the way of what it asks for. */
  readonly mustSucceed: boolean
  /** What the gateway may say goodbye with. */
  readonly goodbyes: readonly number[]
  /** It has to say goodbye. */
  readonly mustEnd: boolean
}

export type Ending =
  /** The gateway has to say goodbye with this code. */
  | { readonly kind: 'goodbye'; readonly bytes: Buffer; readonly code: number | undefined }
  /** The client just leaves, perhaps in the middle of a word. */
  | { readonly kind: 'end' | 'reset'; readonly bytes: Buffer }

/** What one client does, from its first byte to its last. */
export type Plan =
  | { readonly kind: 'odd'; readonly door: Buffer }
  | {
      readonly kind: 'session'
      readonly door: Buffer
      /** There may be no room for it. */
      readonly mayBeRefused: boolean
      /** What the gateway may say goodbye with at any time. */
      readonly goodbyes: readonly number[]
      readonly steps: readonly Step[]
      /** So many are sent before the answers are waited for. */
      readonly depth: number
      /** Or else it ends before everything is answered. */
      readonly waits: boolean
      readonly ending: Ending
    }

/** Above what the largest plan allows, and what all do. */
const TOO_LARGE_BYTES = 131_073
const {
  maxMessageBytes: DEFAULT_BYTES,
  maxStrangerBytes: STRANGER_BYTES,
  maxBatch: MAX_BATCH,
} = DEFAULT_WS_LIMITS
const ODD_SHARE = 0.1
const NO_ANSWER = { answer: undefined, mustSucceed: false, mustEnd: false, goodbyes: [] }

export function casesOf(plan: Plan): number {
  return plan.kind === 'odd' ? 1 : plan.steps.length + 1
}

export function makePlan(random: Random, target: WsTarget): Plan {
  if (random.chance(ODD_SHARE)) return { kind: 'odd', door: oddDoor(random, target) }
  const { keys } = target
  const [header, sent] = random.pick<[string | undefined, string | undefined]>([
    ...Array.from({ length: 14 }, (): [string, undefined] => [keys.flood, undefined]),
    [undefined, keys.flood],
    [undefined, keys.flood],
    [keys.good, undefined],
    [keys.narrow, undefined],
    [undefined, keys.good],
    [undefined, undefined],
  ])
  const steps: Step[] = []
  if (sent !== undefined) steps.push(messageStep(random, authWith(sent, 1), false))
  const isStranger = header === undefined && sent === undefined
  let isFree = header === keys.flood || sent === keys.flood
  for (let left = sessionLength(random); left > 0; left--) {
    const id = steps.length + 1
    const dice = random.next()
    if (dice < 0.03) {
      steps.push({ ...withCut(random, controlFrame(random)), ...NO_ANSWER })
      continue
    }
    const message = dice < 0.035 ? authMessage(random, target, id) : makeMessage(random, target, id)
    const step = messageStep(random, message, isFree, isStranger)
    steps.push(step)
    if (step.mustEnd) break
    const text = message.payload.toString('latin1')
    if (text.includes(keys.good) || text.includes(keys.narrow)) isFree = false
  }
  return {
    kind: 'session',
    door: goodDoor(random, header),
    mayBeRefused: header === keys.narrow,
    // A client that never authenticates is disconnected.
    goodbyes: isStranger ? [4401] : [],
    steps,
    depth: random.pick([1, 4, 16, 40]),
    waits: random.chance(0.75),
    ending: makeEnding(random),
  }
}

function sessionLength(random: Random): number {
  const dice = random.next()
  if (dice < 0.3) return random.between(0, 3)
  return dice < 0.8 ? random.between(4, 60) : random.between(60, 200)
}

function messageStep(random: Random, message: Message, isFree: boolean, isStranger = false): Step {
  const { payload, isBinary, isSound } = message
  const answer = isBinary || isUtf8(payload) ? answerTo(payload.toString(), isBinary) : undefined
  const goodbyes = [
    ...(answer === undefined ? [1007] : []),
    ...(payload.length > (isStranger ? STRANGER_BYTES : DEFAULT_BYTES) ? [1009] : []),
    // A flood is refused, message by message, and at last shown out.
    ...(isFree ? [] : [4429]),
    ...(payload.includes('auth') ? [4401, 4429] : []),
  ]
  return {
    ...withCut(random, encodeMessage(random, payload, isBinary)),
    answer,
    mustSucceed: isSound && isFree,
    mustEnd: answer === undefined,
    goodbyes,
  }
}

function withCut(random: Random, bytes: Buffer): Pick<Step, 'bytes' | 'cut'> {
  return { bytes, cut: random.chance(0.05) ? random.below(bytes.length) : undefined }
}

/** Derived from the message alone, as documented: each gets one response, with its id if that can be read. */
function answerTo(text: string, isBinary: boolean): string {
  if (isBinary) return 'null'
  if (isTooDeep(text)) return 'null'
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    // What cannot be read has no id.
    return 'null'
  }
  if (!Array.isArray(parsed)) return JSON.stringify(idOf(parsed))
  return parsed.length === 0 || parsed.length > MAX_BATCH ? 'null' : JSON.stringify(parsed.map(idOf))
}

function idOf(request: unknown): number | null {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) return null
  const id = Object.hasOwn(request, 'id') ? (request as { id: unknown }).id : undefined
  return Number.isSafeInteger(id) ? (id as number) : null
}

function makeEnding(random: Random): Ending {
  const dice = random.next()
  if (dice < 0.4) {
    const code = random.pick([undefined, 1000, 1000, 1001, 1011, 3000, 4000, 4401, 4999])
    return { kind: 'goodbye', bytes: closeFrame(random, code), code }
  }
  if (dice < 0.65) return { kind: 'goodbye', ...violation(random) }
  if (dice < 0.68) {
    const payload = Buffer.alloc(TOO_LARGE_BYTES, ' ')
    return { kind: 'goodbye', bytes: encodeMessage(random, payload, false), code: 1009 }
  }
  const kind = random.chance(0.5) ? 'end' : 'reset'
  if (dice < 0.85) return { kind, bytes: Buffer.alloc(0) }
  const whole = encodeFrame({
    opcode: OPCODE.text,
    payload: random.bytes(random.between(1, 300)),
    mask: random.bytes(4),
  })
  return { kind, bytes: whole.subarray(0, random.between(1, whole.length - 1)) }
}
