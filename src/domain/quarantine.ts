import { ChaintapeError } from './errors.ts'

export const LOGS = ['BLOCKS', 'CHANGES', 'CHANGES2'] as const
export type QuarantinedLog = (typeof LOGS)[number]

/** Address of a message: the sequence of its last frame. */
export type MessagePlace = {
  readonly chain: string
  readonly log: QuarantinedLog
  readonly sequence: number
}

/** A message that an operator decided to skip, in every role and in every replay. */
export type QuarantineEntry = MessagePlace & {
  /** Epoch of the log: a recreated log has other messages at the same sequences. */
  readonly epoch: string
  readonly reason: string
  /** Milliseconds. */
  readonly at: number
}

/** A message that fails on every attempt. */
export class PoisonedMessage extends ChaintapeError {
  readonly place: MessagePlace

  constructor(place: MessagePlace, cause: unknown) {
    const code = cause instanceof ChaintapeError ? `${cause.code}: ` : ''
    const why = cause instanceof Error ? cause.message : String(cause)
    super('message_poisoned', `${place.log} message ${place.sequence} cannot be processed: ${code}${why}`, {
      cause,
    })
    this.place = place
  }
}

/** Runs `work` on a message and attributes its errors to the message, except faults of the environment. */
export function blameMessage<T>(place: MessagePlace, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new PoisonedMessage(place, error)
  }
}

export function quarantineName({ chain, log, sequence }: MessagePlace): string {
  return `${chain}.${log.toLowerCase()}.${sequence}`
}

/** An empty body withdraws an entry. */
export function encodeQuarantine({ epoch, reason, at }: QuarantineEntry): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ epoch, reason, at }))
}

/** Undefined if the entry was withdrawn. */
export function decodeQuarantine(name: string, body: Uint8Array): QuarantineEntry | undefined {
  if (body.length === 0) return undefined
  const [chain = '', log = '', sequence = ''] = name.split('.')
  const { epoch, reason, at }: Partial<QuarantineEntry> = JSON.parse(new TextDecoder().decode(body))
  const known = LOGS.find((each) => each.toLowerCase() === log)
  if (known === undefined || typeof epoch !== 'string' || !/^[1-9]\d*$/.test(sequence)) {
    throw new ChaintapeError('message_unreadable', `quarantine entry ${name} was not written by Chaintape`)
  }
  return {
    chain,
    log: known,
    sequence: Number(sequence),
    epoch,
    reason: reason ?? '',
    at: at ?? 0,
  }
}
