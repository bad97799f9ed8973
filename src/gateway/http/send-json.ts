import type { FastifyReply } from 'fastify'
import type { Answer } from '../cache/answer-cache.ts'

/** The type of an answer says what its text means, not that it is text. */
export const JSON_TYPE = 'application/json; charset=utf-8'

/** Sends what is JSON already. Bytes are written as they are; long text would first be copied more than once. */
export function sendJson(reply: FastifyReply, json: string | Buffer): never {
  return reply.type(JSON_TYPE).send(json) as never
}

/** The same for a handler that awaited something: Fastify sends what it returns, unless it has to be made again. */
export function jsonPayload(reply: FastifyReply, json: string | Buffer): never {
  reply.type(JSON_TYPE)
  return json as never
}

/** Sends at once if the answer is ready. The handler then returns nothing, because Fastify awaits a returned reply. */
export function sendAnswer(reply: FastifyReply, answer: Answer | Promise<Answer>): Promise<never> {
  const withHeaders = ({ json, headers }: Answer): string | Buffer => {
    if (headers !== undefined) reply.headers(headers)
    return json
  }
  return (
    answer instanceof Promise
      ? answer.then((made) => jsonPayload(reply, withHeaders(made)))
      : void sendJson(reply, withHeaders(answer))
  ) as Promise<never>
}
