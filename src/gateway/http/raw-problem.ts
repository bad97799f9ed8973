import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { PROBLEM_TYPE, problem, type RequestError } from './problem.ts'

/** As long a client may take to read its answer and hang up. */
const LINGER_MS = 1_000

/** Answers a connection that never became a request, and ends it. */
export function writeRawProblem(stream: Duplex, error: RequestError): void {
  const body = problem(error, randomUUID())
  const text = JSON.stringify(body)
  // A client that hangs up first needs no answer.
  stream.on('error', () => stream.destroy())
  // Hung up on with something unread, the kernel would take the answer back; otherwise it is for the client to keep open.
  const linger = setTimeout(() => stream.destroy(), LINGER_MS)
  stream.once('close', () => clearTimeout(linger))
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
