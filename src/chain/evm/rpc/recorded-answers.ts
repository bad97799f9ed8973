import type { Answer, Call } from '../../../dex/protocol.ts'
import type { Multicall } from './multicall.ts'

export type Asker = Pick<Multicall, 'ask' | 'askExactly'>

type Method = keyof Asker
type Calls = Parameters<Asker['ask']>[0]

/** Answers about one block that were asked for before its turn. Each is used once: a question asked twice has two. */
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

  /** Answers from the record, and asks only what is not recorded. */
  replay(asker: Asker): Asker {
    const ask = async (method: Method, calls: Calls, blockHash: string): Promise<Answer[]> => {
      const recorded = calls.map((call) => this.#answers.get(keyOf(method, call, blockHash)))
      // Taken before the first await, so that no concurrent caller takes them.
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

function keyOf(method: Method, { to, data }: Omit<Call, 'before'>, blockHash: string): string {
  return `${method}/${blockHash}/${to}/${data}`
}
