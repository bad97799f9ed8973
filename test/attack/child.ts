import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

/** A process that takes orders and answers each with one message. */
export class Child {
  readonly #process: ChildProcess
  readonly #ended: Promise<never>

  constructor(file: string, start: object = {}) {
    this.#process = fork(new URL(file, import.meta.url), [JSON.stringify(start)])
    this.#ended = once(this.#process, 'exit').then(([code]) => {
      throw new Error(`a process of the attack ended with ${code}`)
    })
    // Surfaces in the next `ask`; until then it must not count as an unhandled rejection.
    this.#ended.catch(() => undefined)
  }

  async next<Answer>(): Promise<Answer> {
    const answered = new Promise<Answer>((resolve) => {
      this.#process.once('message', (answer) => resolve(answer as Answer))
    })
    return Promise.race([answered, this.#ended])
  }

  async ask<Answer>(order: unknown): Promise<Answer> {
    const answer = this.next<Answer>()
    this.#process.send(order as object)
    return answer
  }

  get pid(): number {
    if (this.#process.pid === undefined) throw new Error('a process of the attack did not start')
    return this.#process.pid
  }

  stop(): void {
    if (this.#process.connected) this.#process.disconnect()
  }
}
