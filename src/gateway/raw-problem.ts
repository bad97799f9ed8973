import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { PROBLEM_TYPE, problem, type RequestError } from './problem.ts'

/** Answers a connection that never became a request, and ends it. */
export function writeRawProblem(stream: Duplex, error: RequestError): void {
  const body = problem(error, randomUUID())
  const text = JSON.stringify(body)
  // A client that hangs up first needs no answer.
  stream.on('error', () => stream.destroy())
  stream.end(
    [
      `HTTP/1.1 ${body.status} ${body.title}`,
      `content-type: ${PROBLEM_TYPE}`,
      `content-length: ${Buffer.byteLength(text)}`,
      'connection: close',
      '',
      text,
    ].join('\r\n'),
  )
}
