import type { Grant } from '../keys/key-ring.ts'
import type { Refusal } from '../metering/account.ts'
import type { Bill, Meter } from '../metering/meter.ts'
import { RpcFault } from './rpc-fault.ts'

/** What each started thousand of events costs, as a page of REST does. */
export const REPLAY_CU = 50
export const REPLAY_EVENTS = 1_000
/** The name of a replay in a key's usage. */
const OPERATION = 'WS replay'

/** The replays that run at this gateway: few of a key at a time, each charged for what it reads. */
export class Replays {
  readonly #meter: Pick<Meter, 'open'>
  readonly #running = new Map<string, number>()

  constructor(meter: Pick<Meter, 'open'>) {
    this.#meter = meter
  }

  /**
   * Throws a typed fault if the key has all its replays running, or no credit units for the first events. A client that
   * is not behind has nothing to read: it takes no place, and pays only if events come in before it has joined them.
   */
  async begin(grant: Grant, isBehind: boolean): Promise<Replay> {
    const { keyId, plan } = grant
    const open = () => this.#meter.open(grant, OPERATION, REPLAY_CU)
    if (!isBehind) return new Replay(open, () => undefined)
    const running = this.#running.get(keyId) ?? 0
    const max = plan.sockets.maxReplays
    if (running >= max) {
      const message = `a key has at most ${max} replays at a time; wait for one to catch up`
      throw new RpcFault('limit_exceeded', message, { limit: 'replays', max })
    }
    this.#running.set(keyId, running + 1)
    const replay = new Replay(open, () => this.#end(keyId))
    try {
      await replay.reserve()
    } catch (error) {
      replay.end()
      throw error
    }
    return replay
  }

  #end(keyId: string): void {
    const left = (this.#running.get(keyId) ?? 0) - 1
    if (left > 0) this.#running.set(keyId, left)
    else this.#running.delete(keyId)
  }
}

/** One replay: counts what it reads, and pays for it. */
export class Replay {
  readonly #open: () => Bill | Promise<Bill | Refusal>
  readonly #onEnd: () => void
  #bill: Bill | undefined
  #read = 0
  #paid = 0
  #isEnded = false

  constructor(open: () => Bill | Promise<Bill | Refusal>, onEnd: () => void) {
    this.#open = open
    this.#onEnd = onEnd
  }

  /** Sets the units of the next events aside. */
  async reserve(): Promise<void> {
    if (this.#bill !== undefined) return
    const opened = await this.#open()
    if ('reason' in opened) throw refused(opened)
    this.#bill = opened
  }

  /** To be called with what was read, before it is sent. */
  async charge(events: number): Promise<void> {
    this.#read += events
    while (this.#read > this.#paid) {
      await this.reserve()
      this.#bill?.charge()
      this.#bill = undefined
      this.#paid += REPLAY_EVENTS
    }
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#bill?.release()
    this.#bill = undefined
    this.#onEnd()
  }
}

function refused({ reason }: Refusal): RpcFault {
  if (reason === 'unavailable') {
    return new RpcFault(
      'internal',
      'credit units cannot be counted at the moment; retry with your last cursor',
      {
        reason: 'metering_unavailable',
      },
    )
  }
  const message = "the plan's credit units of this month are used up; a replay needs some"
  return new RpcFault('quota_exhausted', message, { option: 'from', cu: REPLAY_CU })
}
