import { ChaintapeError } from '../domain/errors.ts'

/** Requests go to `<prefix>.lookup.<chain>`, one id each. Plain text, because it is never stored. */
export const LOOK_UP_TOPIC = 'lookup'

/**
 * `pending`: the id is in a creation event or has code, so it may be looked up. `none`: it has neither, or nothing was
 * found behind it.
 */
export const LOOK_UP_ANSWERS = ['pending', 'none'] as const
export type LookUpAnswer = (typeof LOOK_UP_ANSWERS)[number]

const ID = /^0x(?:[0-9a-f]{40}|[0-9a-f]{64})$/

/** An address, or the id of a pool without a contract. */
export function isLookUpId(id: string): boolean {
  return ID.test(id)
}

export function decodeLookUpAnswer(text: string): LookUpAnswer {
  const answer = LOOK_UP_ANSWERS.find((known) => known === text)
  if (answer === undefined) throw new ChaintapeError('message_unreadable', 'not an answer about a look-up')
  return answer
}
