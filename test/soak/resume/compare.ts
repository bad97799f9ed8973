import type { Subject } from './subject.ts'

export type Comparison = { readonly fault: string | undefined; readonly conflated: number }

/**
 * Whether a client received exactly these pushes, in this order. A slow client may miss a candle, but only if a later
 * version of the same minute, or its removal, follows. A gateway sends every removal; a buffer of states may replace it.
 */
export function comparePushes(
  { topic }: Subject,
  expected: readonly string[],
  received: readonly string[],
  mayReplaceRemovals = false,
): Comparison {
  let conflated = 0
  let at = 0
  for (const [index, push] of expected.entries()) {
    if (received[at] === push) at++
    else if (topic === 'kline' && isReplacedLater(push, expected, index, mayReplaceRemovals)) conflated++
    else return { fault: `${push} (${index}th) was expected, ${received[at]} (${at}th) came`, conflated }
  }
  const fault = at < received.length ? `${received.length - at} too many, first ${received[at]}` : undefined
  return { fault, conflated }
}

function isReplacedLater(
  push: string,
  expected: readonly string[],
  index: number,
  mayReplaceRemovals: boolean,
): boolean {
  if (push.startsWith('-') && !mayReplaceRemovals) return false
  const start = push.replace('-', '').split('#')[0]
  return expected.some(
    (other, place) => place > index && (other.startsWith(`${start}#`) || other === `-${start}`),
  )
}
