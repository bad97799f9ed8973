import type { FastifyReply } from 'fastify'
import type { Answer } from '../answer-cache.ts'

/** Sends what is JSON already. Bytes are written as they are; long text would first be copied more than once. */
export function sendJson(reply: FastifyReply, json: string | Buffer): never {
  // The type of an answer says what its text means, not that it is text.
  return reply.type('application/json; charset=utf-8').send(json) as never
}

/** At once if it is there; then the handler returns nothing, because whoever returns a reply waits for its end. */
export function sendAnswer(reply: FastifyReply, answer: Answer | Promise<Answer>): Promise<never> {
  const send = ({ json }: Answer): never => sendJson(reply, json)
  return (answer instanceof Promise ? answer.then(send) : void send(answer)) as Promise<never>
}
