import type { Duplex } from 'node:stream'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { ChaintapeError } from '../../../domain/errors.ts'
import { PROBLEM_TYPE, type ProblemItem, problem, RequestError } from '../problem.ts'
import { writeRawProblem } from '../raw-problem.ts'
import type { Scope } from '../scope.ts'

type ValidationError = NonNullable<FastifyError['validation']>[number]

/** As many as the longest list we accept; more would only repeat what is already said. */
const MAX_ITEMS = 200
/** After a failure that is not the request's fault. */
const RETRY_SECONDS = 1

/** Every failure leaves as `application/problem+json`. */
export function answerProblems(app: Scope): void {
  app.setErrorHandler<FastifyError>(sendProblem)
  app.setNotFoundHandler(async (request, reply) => {
    await sendProblem(
      new RequestError('not_found', 'no operation has this method and path; see /docs'),
      request,
      reply,
    )
  })
}

export async function sendProblem(
  error: FastifyError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const failure = toRequestError(error)
  const facts = { err: error, request_id: request.id }
  if (failure.code === 'internal') request.log.error(facts, 'Request failed')
  if (failure.code === 'store_unavailable') request.log.warn(facts, 'Request failed: store unavailable')
  const body = problem(failure, request.id)
  if (body.status >= 500 && !reply.hasHeader('retry-after')) reply.header('retry-after', RETRY_SECONDS)
  await reply.code(body.status).type(PROBLEM_TYPE).send(JSON.stringify(body))
}

/** Input that the HTTP parser rejected. */
export function answerBrokenClient(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy()
  else writeRawProblem(socket, error.code === 'HPE_HEADER_OVERFLOW' ? HEADERS_TOO_LARGE : INVALID_HTTP)
}

// Made once: half of what such a refusal costs would be the stack trace.
const HEADERS_TOO_LARGE = new RequestError(
  'limit_exceeded',
  'the request headers are too large; send at most 16 KiB',
)
const INVALID_HTTP = new RequestError('malformed_request', 'incomplete or invalid HTTP request')

function toRequestError(error: FastifyError | Error): RequestError {
  if (error instanceof RequestError) return error
  if (error instanceof ChaintapeError && error.code === 'store_unavailable') {
    return new RequestError(
      'store_unavailable',
      'a backing store is unavailable; retry after the given delay',
    )
  }
  if (error instanceof ChaintapeError && error.code === 'chain_unavailable') {
    return new RequestError('chain_unavailable', error.message)
  }
  if ('validation' in error && error.validation !== undefined) return fromValidation(error.validation)
  const status = 'statusCode' in error ? (error.statusCode ?? 500) : 500
  if (status === 413)
    return new RequestError('limit_exceeded', 'the request body is too large; send at most 32 KiB')
  // Below 500 the framework blames the request, in words meant for the caller; above, in words for us.
  if (status >= 400 && status < 500) return new RequestError('malformed_request', error.message)
  return new RequestError('internal', 'the request failed; retry after the given delay')
}

function fromValidation(errors: readonly ValidationError[]): RequestError {
  const items = errors.slice(0, MAX_ITEMS).map(toItem)
  return errors.some(({ keyword }) => keyword === 'maxItems' || keyword === 'maximum')
    ? new RequestError('limit_exceeded', 'the request exceeds a limit; see errors', items)
    : new RequestError('malformed_request', 'the request does not match its schema; see errors', items)
}

function toItem({ instancePath, message, params }: ValidationError): ProblemItem {
  const member = params['missingProperty'] ?? params['additionalProperty']
  const suffix = typeof member === 'string' ? `/${escapePointer(member)}` : ''
  return { pointer: `#${instancePath}${suffix}`, detail: message ?? 'is not valid' }
}

function escapePointer(member: string): string {
  return member.replaceAll('~', '~0').replaceAll('/', '~1')
}
