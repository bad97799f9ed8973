import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

/** A process that is told things and answers each with one message. */
export class Child {
  readonly #process: ChildProcess
  readonly #ended: Promise<never>

  constructor(file: string, start: object = {}) {
    this.#process = fork(new URL(file, import.meta.url), [JSON.stringify(start)])
    this.#ended = once(this.#process, 'exit').then(([code]) => {
      throw new Error(`a process of the attack ended with ${code}`)
    })
    // Told to who asks it something; until then it must not count as unhandled.
    this.#ended.catch(() => undefined)
  }

  async next<Answer>(): Promise<Answer> {
    const told = new Promise<Answer>((resolve) => {
      this.#process.once('message', (answer) => resolve(answer as Answer))
    })
    return Promise.race([told, this.#ended])
  }

  async ask<Answer>(order: unknown): Promise<Answer> {
    const answer = this.next<Answer>()
    this.#process.send(order as object)
    return answer
  }

  stop(): void {
    if (this.#process.connected) this.#process.disconnect()
  }
}
