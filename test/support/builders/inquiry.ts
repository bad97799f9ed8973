import type { Answer, Call } from '../../../src/dex/protocol.ts'

/** What each contract answers, as hex, by address and then by the data of the call. */
export type Contracts = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Leads an inquiry to its end; calls that no contract answers have failed. */
export function lead<Found>(
  inquiry: Generator<readonly Call[], Found, readonly Answer[]>,
  contracts: Contracts,
): { found: Found; rounds: Call[][] } {
  const rounds: Call[][] = []
  let step = inquiry.next([])
  while (!step.done) {
    rounds.push([...step.value])
    const answers = step.value.map(({ to, data }) => {
      const answer = contracts[to]?.[data]
      return answer === undefined ? undefined : Buffer.from(answer.slice(2), 'hex')
    })
    step = inquiry.next(answers)
  }
  return { found: step.value, rounds }
}
