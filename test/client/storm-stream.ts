import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CandleRetraction,
  type CandleUpdate,
  type Client,
  isRetraction,
  type Retraction,
  type Stream,
  type Trade,
} from '../../clients/typescript/src/index.ts'
import { CHAIN, type Subject } from '../soak/resume/subject.ts'

type Item = Trade | Retraction | CandleUpdate | CandleRetraction

/** One stream of the storm: everything that it delivered, in the notation of the market. */
export class StormStream {
  readonly subject: Subject
  readonly received: string[] = []
  readonly ended: Promise<void>
  failure: unknown
  readonly #stream: Stream<Item>

  /** A slow one has a small buffer, and pauses often. */
  constructor(client: Client, subject: Subject, isSlow: boolean) {
    this.subject = subject
    this.#stream = open(client, subject, isSlow ? 16 : undefined)
    this.ended = this.#read(isSlow).catch((error: unknown) => {
      this.failure = error
    })
  }

  close(): Promise<void> {
    this.#stream.close()
    return this.ended
  }

  async #read(isSlow: boolean): Promise<void> {
    for await (const item of this.#stream) {
      this.received.push(textOf(item))
      if (isSlow && this.received.length % 20 === 0) await sleep(30)
    }
  }
}

function open(
  client: Client,
  { topic, address, reorg }: Subject,
  bufferSize: number | undefined,
): Stream<Item> {
  const id = `${address}-${CHAIN}`
  // Two overloads: with retractions, and without.
  const retractions = reorg as true
  if (topic === 'tx') return client.trades(id, { bufferSize, retractions })
  if (topic === 'multi_tx') return client.tokenTrades(id, { bufferSize, retractions })
  return client.candles(id, 'k1', { retractions })
}

function textOf(item: Item): string {
  if (!isRetraction(item))
    return 'volume' in item ? `${item.time}#${item.volume}` : `${item.id}#${item.transaction}`
  return 'time' in item ? `-${item.time}` : `-${item.retracted.join()}`
}

/** The swaps that remain of a stream with retractions. */
export function swapsLeft(received: readonly string[]): string[] {
  const left = new Map<string, string>()
  for (const text of received) {
    if (text.startsWith('-')) for (const id of text.slice(1).split(',')) left.delete(id)
    else left.set(text.split('#')[0] ?? '', text)
  }
  return [...left.values()]
}
