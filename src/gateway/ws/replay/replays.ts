import type { Grant } from '../../access/keys/key-ring.ts'
import type { Refusal } from '../../access/metering/account-state.ts'
import type { Bill, Meter } from '../../access/metering/meter.ts'
import { RpcFault } from '../rpc-fault.ts'
import { ReplayQueue, type ReplaySlot } from './replay-queue.ts'

/** Cost of each started thousand of events, equal to that of a REST page. */
export const REPLAY_CU = 50
export const REPLAY_EVENTS = 1_000
/** The name of a replay in a key's usage. */
const OPERATION = 'WS replay'

/** The replays at this gateway: limits how many of a key run at a time, and charges for the events they read. */
export class Replays {
  readonly #meter: Pick<Meter, 'open'>
  readonly #queue = new ReplayQueue()

  constructor(meter: Pick<Meter, 'open'>) {
    this.#meter = meter
  }

  /**
   * Throws a typed fault if too many replays of the key are waiting, or if this one may start but the key has no credit
   * units for its first events. A client that is not behind has nothing to read: it takes no slot, and pays only for
   * events that arrive before it has caught up.
   */
  async begin(grant: Grant, isBehind: boolean): Promise<Replay> {
    const open = () => this.#meter.open(grant, OPERATION, REPLAY_CU)
    if (!isBehind) return new Replay(open, { turn: undefined, release: () => undefined })
    const replay = new Replay(open, this.#queue.enter(grant))
    if (replay.turn !== undefined) return replay
    try {
      await replay.reserve()
    } catch (error) {
      replay.end()
      throw error
    }
    return replay
  }
}

/** One replay: counts and charges for the events it reads. */
export class Replay {
  readonly #open: () => Bill | Promise<Bill | Refusal>
  readonly #slot: ReplaySlot
  #bill: Bill | undefined
  #read = 0
  #paid = 0
  #isEnded = false

  constructor(open: () => Bill | Promise<Bill | Refusal>, slot: ReplaySlot) {
    this.#open = open
    this.#slot = slot
  }

  /** If other replays of the key come first: resolves when this one may start or has ended. */
  get turn(): Promise<void> | undefined {
    return this.#slot.turn
  }

  /** Reserves the units of the next events. */
  async reserve(): Promise<void> {
    if (this.#bill !== undefined) return
    const opened = await this.#open()
    if ('reason' in opened) throw refused(opened)
    this.#bill = opened
  }

  /** Call with the number of events read, before they are sent. */
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
    this.#slot.release()
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
  const message = 'no credit units left this month; a replay needs some'
  return new RpcFault('quota_exhausted', message, { option: 'from', cu: REPLAY_CU })
}
