import { isTooDeep } from '../json-depth.ts'
import { RequestError } from '../problem.ts'
import type { Scope } from '../scope.ts'

const TOO_DEEP = new RequestError('malformed_request', 'the body is nested too deeply')

/** As Fastify does by itself, but refuses brackets without end before they are parsed. */
export function parseJsonBodies(app: Scope): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body: string, done) => {
    if (isTooDeep(body)) done(TOO_DEEP)
    else void parse(request, body, done)
  })
}
