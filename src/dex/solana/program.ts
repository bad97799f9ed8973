import type { Protocol } from '../protocol.ts'

/**
 * How the instructions of a program become logs. The topic of a log is the discriminator of its instruction; a second
 * log of the same instruction (a second hop, the liquidity of a new pool) has a topic with one more byte.
 */
export type SolanaProgram = {
  /** Anchor programs use eight bytes, native ones a single tag. */
  readonly discriminatorBytes: 1 | 8
  /** Where the program emits its events; some emit each one in both places. */
  readonly eventsIn: 'calls' | 'data_logs' | 'ray_logs'
  /** Logs that an instruction yields only if its events call for them. */
  readonly onlyIf?: Readonly<Record<string, (events: readonly Uint8Array[]) => boolean>>
}

export type SolanaProtocol = Protocol & { readonly program: SolanaProgram }

/** A program with the topics of each instruction that the decoders read, keyed by the hex of its discriminator. */
export type KnownProgram = {
  readonly program: SolanaProgram
  readonly topics: ReadonlyMap<string, readonly string[]>
}

export function knownProgram({ program, announcements, events }: SolanaProtocol): KnownProgram {
  const topics = new Map<string, string[]>()
  const digits = program.discriminatorBytes * 2
  for (const topic of [...Object.keys(announcements), ...Object.keys(events)].sort()) {
    const discriminator = topic.slice(2, 2 + digits)
    const known = topics.get(discriminator)
    if (known === undefined) topics.set(discriminator, [topic])
    else known.push(topic)
  }
  return { program, topics }
}

/** The topic of an instruction's nth log, counted from zero. */
export function nthTopic(topic: string, nth: number): string {
  return nth === 0 ? topic : `${topic}${nth.toString(16).padStart(2, '0')}`
}
