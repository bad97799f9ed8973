import { TurnBudget } from '../../../lib/turn-budget.ts'
import { isTooDeep } from '../json-depth.ts'
import { RequestError } from '../problem.ts'
import type { Scope } from '../scope.ts'

const TOO_DEEP = new RequestError('malformed_request', 'the body is nested too deeply')

/** Parsing a shorter body takes about as long as the rest of its request. */
const SHORT = 4 * 1_024

/** As Fastify does by itself, but refuses brackets without end before they are parsed, and parses long bodies in turn. */
export function parseJsonBodies(app: Scope): void {
  const long = new TurnBudget()
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body: string, done) => {
    const finish = (): void => {
      if (isTooDeep(body)) done(TOO_DEEP)
      else void parse(request, body, done)
    }
    if (body.length <= SHORT) finish()
    else long.add(finish)
  })
}
