import type { Answer } from '../../dex/protocol.ts'
import type { Asker, Calls } from './asker.ts'

type Method = keyof Asker

/** Answers about one block, requested in advance. Each is used once: a question asked twice has two. */
export class RecordedAnswers {
  readonly #answers = new Map<string, Answer[]>()

  /** Asks, and records the answers. */
  record(asker: Asker): Asker {
    const ask = async (method: Method, calls: Calls, blockHash: string): Promise<Answer[]> => {
      const answers = await asker[method](calls, blockHash)
      for (const [index, call] of calls.entries()) {
        const key = keyOf(method, call, blockHash)
        const recorded = this.#answers.get(key)
        if (recorded === undefined) this.#answers.set(key, [answers[index]])
        else recorded.push(answers[index])
      }
      return answers
    }
    return bind(ask)
  }

  /** Answers from the record, and requests only what is missing. */
  replay(asker: Asker): Asker {
    const ask = async (method: Method, calls: Calls, blockHash: string): Promise<Answer[]> => {
      const recorded = calls.map((call) => this.#answers.get(keyOf(method, call, blockHash)))
      // Removed before the first await, so that no concurrent caller uses them too.
      const answers = recorded.map((queue) => (queue?.length ? { is: queue.shift() } : undefined))
      const missing = calls.filter((_, index) => answers[index] === undefined)
      if (missing.length === 0) return answers.map((answer) => answer?.is)
      const asked = (await asker[method](missing, blockHash)).values()
      return answers.map((answer) => (answer === undefined ? asked.next().value : answer.is))
    }
    return bind(ask)
  }
}

function bind(ask: (method: Method, calls: Calls, blockHash: string) => Promise<Answer[]>): Asker {
  return {
    ask: (calls, blockHash) => ask('ask', calls, blockHash),
    askExactly: (calls, blockHash) => ask('askExactly', calls, blockHash),
  }
}

function keyOf(method: Method, { to, data }: Calls[number], blockHash: string): string {
  return `${method}/${blockHash}/${to}/${data}`
}
