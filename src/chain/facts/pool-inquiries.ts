import type { Answer, Call } from '../../dex/protocol.ts'
import type { Header } from '../source.ts'
import type { Asker } from './asker.ts'

/** Runs all inquiries concurrently, so that their next calls share a batch. */
export async function runInquiries<Found>(
  asker: Asker,
  inquiries: readonly Generator<readonly Call[], Found | undefined, readonly Answer[]>[],
  block: Header,
): Promise<(Found | undefined)[]> {
  const found: (Found | undefined)[] = inquiries.map(() => undefined)
  let open = inquiries.map((inquiry, index) => ({ inquiry, index, step: inquiry.next([]) }))
  while (open.length > 0) {
    for (const { index, step } of open) if (step.done) found[index] = step.value
    open = open.filter(({ step }) => !step.done)
    const calls = open.flatMap(({ step }) => (step.done ? [] : step.value))
    const answers = await askAround(asker, calls, block)
    let next = 0
    open = open.map(({ inquiry, index, step }) => {
      const count = step.done ? 0 : step.value.length
      const own = answers.slice(next, next + count)
      next += count
      return { inquiry, index, step: inquiry.next(own) }
    })
  }
  return found
}

/** In the states before and after this block. */
export async function askAround(
  asker: Asker,
  calls: readonly Call[],
  { hash, parentHash }: Header,
): Promise<Answer[]> {
  // Several inquiries about one pool begin with the same calls.
  const distinct = [...new Map(calls.map((call) => [keyOf(call), call])).values()]
  const before = distinct.filter((call) => call.before)
  const after = distinct.filter((call) => !call.before)
  const [answersBefore, answersAfter] = await Promise.all([
    asker.askExactly(before, parentHash),
    asker.ask(after, hash),
  ])
  const answers = new Map<string, Answer>()
  for (const [index, call] of before.entries()) answers.set(keyOf(call), answersBefore[index])
  for (const [index, call] of after.entries()) answers.set(keyOf(call), answersAfter[index])
  return calls.map((call) => answers.get(keyOf(call)))
}

function keyOf({ to, data, before }: Call): string {
  return `${to}${data}${before ? '-' : ''}`
}
