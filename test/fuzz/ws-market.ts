import { setTimeout as sleep } from 'node:timers/promises'
import type { World } from '../contract/world.ts'
import { Listener } from '../contract/ws-listener.ts'

/** Trades and forks while the sockets are fuzzed, so that there are pushes at any moment. */
export type Trading = {
  /** Cursors of the latest pushes, and a few of the first. */
  readonly cursors: readonly string[]
  stop(): Promise<void>
}

const PAUSE_MS = 1_000
const FIRST_BLOCKS = 8
const KEPT_CURSORS = 32
const KEPT_FIRST = 2
const BLOCKS_PER_FORK = 10

export async function startTrading(world: World): Promise<Trading> {
  const { names } = world
  const cursors: string[] = []
  const listener = await Listener.open(world.url, world.keys.flood)
  for (const params of [
    ['tx', names.pair, 'local'],
    ['kline', names.pair, 'k1', 'local'],
    ['price', [`${names.pair}-local`]],
  ]) {
    await listener.subscribe([...params, { cursor: true, reorg: true }])
  }
  const collect = (): void => {
    for (const { cursor } of listener.messages.splice(0)) {
      if (cursor === undefined) continue
      cursors.push(cursor)
      if (cursors.length > KEPT_CURSORS) cursors.splice(KEPT_FIRST, 1)
    }
  }
  for (let block = 0; block < FIRST_BLOCKS; block++) await tradeBlock(world)
  await sleep(PAUSE_MS)
  collect()
  const stopped = new AbortController()
  const traded = (async () => {
    for (let block = 1; !stopped.signal.aborted; block++) {
      await tradeBlock(world)
      if (block % BLOCKS_PER_FORK === 0) await world.scenario.market.reorganise(2)
      await sleep(PAUSE_MS)
      collect()
    }
  })()
  return {
    cursors,
    stop: async () => {
      stopped.abort()
      await traded
      listener.close()
    },
  }
}

export async function tradeBlock({ scenario: { market, token } }: World): Promise<void> {
  await market.buyWithNative(token, 10n ** 15n)
  await market.sellForNative(token, 10n ** 9n)
  await market.addLiquidityNative(token, 10n ** 12n, 10n ** 15n)
  await market.mine()
}
