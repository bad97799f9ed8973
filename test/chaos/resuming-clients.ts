import { foldCandles, foldEvents } from '../e2e/ws-fold.ts'
import { SoakClient } from '../soak/resume/soak-client.ts'
import type { Subject } from '../soak/resume/subject.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import type { Message } from '../support/rigs/ws-client.ts'
import type { ChaosWorld } from './world.ts'

const PAIRS = 10
const INTERNAL_ERROR = -32_603

export type ResumingClient = {
  readonly subject: Subject
  readonly client: SoakClient
}

/** Clients of both gateways that resume with their cursor at the other one whenever their socket closes. */
export class ResumingClients {
  readonly all: readonly ResumingClient[]
  /** They have seen nothing up to this block, and everything after it. */
  readonly since: number

  private constructor(all: readonly ResumingClient[], since: number) {
    this.all = all
    this.since = since
  }

  /** Subscribes before the market continues. */
  static async subscribe(world: ChaosWorld): Promise<ResumingClients> {
    const since = world.chain.head.number
    const all = subjectsOf(world).map((subject, at) => ({
      subject,
      // Every other client has checkpoints: the rest replay from where they last heard something, however long ago that was.
      client: new SoakClient({ ...subject, checkpoint: at % 2 === 0 }, at, () => world.gatewayUrls, {
        textOf: (result) => JSON.stringify(result),
        // Neither store can be read: the client has to come again.
        isTemporary: ({ code }) => code === INTERNAL_ERROR,
      }),
    }))
    const clients = new ResumingClients(all, since)
    await waitFor('all clients to be subscribed', () =>
      all.every(({ client }) => client.isSubscribed) ? true : undefined,
    )
    return clients
  }

  get resumed(): number {
    return this.all.reduce((sum, { client }) => sum + client.resumed, 0)
  }

  get received(): number {
    return this.all.reduce((sum, { client }) => sum + client.received.length, 0)
  }

  /** Sockets of some clients break. */
  cut(nth: number): void {
    for (const [at, { client }] of this.all.entries()) if (at % 4 === nth % 4) client.cut(0, 0)
  }

  end(): void {
    for (const { client } of this.all) client.end()
  }
}

/** The busiest pools by what was traded so far, and the tokens in them. */
function subjectsOf({ chain, pools, tokens }: ChaosWorld): Subject[] {
  const trades = new Map<number, number>()
  for (const action of chain.blocks.flatMap(({ actions }) => actions))
    if (action.type === 'swap') trades.set(action.pool, (trades.get(action.pool) ?? 0) + 1)
  const busiest = pools
    .filter(({ venue }) => venue !== 'curve')
    .toSorted((a, b) => (trades.get(b.pool) ?? 0) - (trades.get(a.pool) ?? 0))
    .slice(0, PAIRS)
  const coins = new Set(busiest.map(({ base }) => base))
  return [
    ...busiest.flatMap(({ id: address }): Subject[] => [
      { topic: 'tx', address, reorg: true },
      { topic: 'kline', address, reorg: true },
      { topic: 'liq', address, reorg: true },
    ]),
    ...tokens
      .filter(({ coin }) => coins.has(coin))
      .map(({ address }): Subject => ({ topic: 'multi_tx', address, reorg: true })),
  ]
}

/** The pushes of a client, in order. */
export function pushesOf({ client }: ResumingClient): Message[] {
  return client.received.map((text) => ({ result: JSON.parse(text) as NonNullable<Message['result']> }))
}

export { foldCandles, foldEvents }
