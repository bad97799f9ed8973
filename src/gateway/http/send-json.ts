import type { FastifyReply } from 'fastify'
import type { Answer } from '../cache/answer-cache.ts'

/** The type of an answer says what its text means, not that it is text. */
export const JSON_TYPE = 'application/json; charset=utf-8'

/** Sends what is JSON already. Bytes are written as they are; long text would first be copied more than once. */
export function sendJson(reply: FastifyReply, json: string | Buffer): never {
  return reply.type(JSON_TYPE).send(json) as never
}

/** Sends at once if the answer is ready. The handler then returns nothing, because Fastify awaits a returned reply. */
export function sendAnswer(reply: FastifyReply, answer: Answer | Promise<Answer>): Promise<never> {
  const send = ({ json, headers }: Answer): never => {
    if (headers !== undefined) reply.headers(headers)
    return sendJson(reply, json)
  }
  return (answer instanceof Promise ? answer.then(send) : void send(answer)) as Promise<never>
}
