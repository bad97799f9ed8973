import type { Grant } from '../../access/keys/key-ring.ts'
import { RpcFault } from '../rpc-fault.ts'

/** A slot for one replay. `turn` resolves when the replay may start; without it, it may start at once. */
export type ReplaySlot = { readonly turn: Promise<void> | undefined; readonly release: () => void }

type Waiter = { readonly maxReplays: number; readonly start: () => void }
type KeyQueue = { running: number; readonly waiting: Set<Waiter> }

/** The replays of each key at this gateway: a few run, the others wait in the order they came. */
export class ReplayQueue {
  readonly #queues = new Map<string, KeyQueue>()

  /** Throws a typed fault if as many replays of the key wait as one connection may have subscriptions. */
  enter({ keyId, plan }: Grant): ReplaySlot {
    const queue = this.#queues.get(keyId) ?? { running: 0, waiting: new Set() }
    const { running, waiting } = queue
    const { maxReplays, maxSubscriptions } = plan.sockets
    if (waiting.size === 0 && running < maxReplays) {
      queue.running++
      this.#queues.set(keyId, queue)
      return { turn: undefined, release: () => this.#advance(keyId, queue) }
    }
    if (waiting.size >= maxSubscriptions) {
      const message = `${waiting.size} replays of the key are waiting already; retry when some have caught up`
      throw new RpcFault('limit_exceeded', message, {
        ...{ limit: 'replays', max: maxReplays, max_waiting: maxSubscriptions },
      })
    }
    const { promise: turn, resolve: start } = Promise.withResolvers<void>()
    const waiter = { maxReplays, start }
    waiting.add(waiter)
    const release = (): void => {
      if (waiting.delete(waiter)) start()
      else this.#advance(keyId, queue)
    }
    return { turn, release }
  }

  #advance(keyId: string, queue: KeyQueue): void {
    queue.running--
    for (const waiter of queue.waiting) {
      // The key may have moved to a plan with fewer replays meanwhile.
      if (queue.running >= waiter.maxReplays) return
      queue.waiting.delete(waiter)
      queue.running++
      waiter.start()
    }
    if (queue.running === 0) this.#queues.delete(keyId)
  }
}
