import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { type Client, createClient } from '../../clients/typescript/src/index.ts'
import { diceOf } from '../soak/options.ts'
import { comparePushes } from '../soak/resume/compare.ts'
import { SoakMarket } from '../soak/resume/market.ts'
import { subjectKey } from '../soak/resume/subject.ts'
import { ResumeWorld } from '../soak/resume/world.ts'
import { API_KEY } from '../support/builders/test-key.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { CutProxy } from './cut-proxy.ts'
import { StormStream, swapsLeft } from './storm-stream.ts'

/**
 * Many streams of the client through cut connections, killed gateways and deep forks. Every stream must deliver exactly
 * the pushes of its subject, in order, so that after retractions it has the canonical list.
 */

const IS_SMOKE = process.env['TEST_CLIENT_STORM'] === 'smoke'
const sizeOf = (name: string, full: number, smoke: number): number =>
  Number(process.env[`CHAINTAPE_CLIENT_${name}`] ?? (IS_SMOKE ? smoke : full))
const SIZE = {
  streams: sizeOf('STREAMS', 200, 40),
  cuts: sizeOf('CUTS', 500, 40),
  kills: sizeOf('KILLS', 20, 2),
  blocks: sizeOf('BLOCKS', 1_500, 250),
}
const FORK_DEPTH = 20
const STREAMS_PER_CLIENT = 20
const STREAMS_PER_SOCKET = 10
const STREAMS_PER_PAIR = 10
const SLOW_EVERY = 7
const BLOCKS_AT_ONCE = 4
/** Items in flight for each stream before the market waits. */
const ITEMS_AHEAD = 50
const NO_PROGRESS_MS = 60_000

const seed = Number(process.env['CHAINTAPE_CLIENT_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

test(`${SIZE.streams} streams through ${SIZE.cuts} cuts, ${SIZE.kills} kills and forks of depth ${FORK_DEPTH}`, async (t) => {
  t.diagnostic(`seed ${seed}`)
  const roll = diceOf(seed)
  const market = new SoakMarket(Math.ceil(SIZE.streams / STREAMS_PER_PAIR), roll, FORK_DEPTH)
  const subjects = market.subjects(SIZE.streams)
  const world = await ResumeWorld.start()
  const proxies: CutProxy[] = []
  const clients: Client[] = []
  let [reconnects, kills, blocks] = [0, 0, 0]
  try {
    await world.publish(market.first())
    await world.store()
    await world.startGateways()
    for (const url of await world.urls()) proxies.push(await CutProxy.start(Number(new URL(url).port)))
    for (let at = 0; at < SIZE.streams; at += STREAMS_PER_CLIENT) {
      const urls = proxies.map(({ url }) => url)
      clients.push(
        createClient({
          ...{ url: clients.length % 2 === 0 ? urls : urls.reverse(), key: API_KEY, WebSocket },
          limits: { subscriptionsPerConnection: STREAMS_PER_SOCKET },
          onReconnect: () => void reconnects++,
        }),
      )
    }
    const streams = subjects.map(
      (subject, index) =>
        new StormStream(
          clients[Math.floor(index / STREAMS_PER_CLIENT)] as Client,
          subject,
          subject.topic !== 'kline' && index % SLOW_EVERY === 0,
        ),
    )
    await waitFor('all streams to be subscribed', async () => {
      const counts = await world.subscriptions()
      return counts === SIZE.streams ? true : undefined
    })
    const received = (): number => streams.reduce((sum, stream) => sum + stream.received.length, 0)
    const cuts = (): number => proxies.reduce((sum, proxy) => sum + proxy.cuts, 0)
    let killing: Promise<void> | undefined
    const kill = async (): Promise<void> => {
      const place = kills++ % proxies.length
      await world.killGateway(place)
      const url = (await world.urls())[place] ?? ''
      ;(proxies[place] as CutProxy).port = Number(new URL(url).port)
    }
    while (blocks < SIZE.blocks || cuts() < SIZE.cuts || kills < SIZE.kills || killing !== undefined) {
      for (let set = 0; set < BLOCKS_AT_ONCE; set++, blocks++) await world.publish(market.next())
      await world.store()
      const share = Math.min(1, blocks / SIZE.blocks)
      for (let due = share * SIZE.cuts - cuts(); due > 0; due--) proxies[roll(2)]?.cut(roll(1_000))
      if (killing === undefined && kills < share * SIZE.kills) {
        killing = kill().finally(() => {
          killing = undefined
        })
      }
      // While a gateway is down, the market continues slowly.
      if (killing !== undefined) await sleep(100)
      const longest = Date.now() + 5_000
      while (market.deliveries - received() > SIZE.streams * ITEMS_AHEAD && Date.now() < longest)
        await sleep(20)
    }
    await settle(streams, market)
    const problems = streams.flatMap((stream) => faultsOf(stream, market))
    t.diagnostic(
      `${received()} items of ${market.deliveries} pushes (candles may be conflated), ${cuts()} cuts, ${kills} kills, ` +
        `${market.undos} forks, ${reconnects} reconnects, ${clients.reduce((sum, { sockets }) => sum + sockets, 0)} sockets`,
    )
    assert.deepEqual(problems.slice(0, 10), [])
    assert.ok(market.undos >= 5, 'no fork had the full depth')
  } finally {
    for (const client of clients) client.closeStreams()
    for (const proxy of proxies) await proxy.stop()
    await world.stop()
  }
})

/** Waits until every stream has its last push, or none arrives any more. */
async function settle(streams: readonly StormStream[], market: SoakMarket): Promise<void> {
  const isBehind = ({ subject, received, failure }: StormStream): boolean =>
    failure === undefined && received.at(-1) !== market.pushesOf(subjectKey(subject)).at(-1)
  let [count, since] = [-1, Date.now()]
  while (streams.some(isBehind) && Date.now() - since < NO_PROGRESS_MS) {
    const now = streams.reduce((sum, { received }) => sum + received.length, 0)
    if (now !== count) [count, since] = [now, Date.now()]
    await sleep(50)
  }
}

function faultsOf({ subject, received, failure }: StormStream, market: SoakMarket): string[] {
  const key = subjectKey(subject)
  if (failure !== undefined) return [`${key}: ended: ${String(failure)}`]
  const { fault } = comparePushes(subject, market.pushesOf(key), received, true)
  if (fault !== undefined) return [`${key}: ${fault}`]
  if (subject.topic !== 'tx' || !subject.reorg) return []
  const isCanonical = swapsLeft(received).join() === market.swapsLeft(subject.address).join()
  return isCanonical ? [] : [`${key}: what is left is not the canonical list`]
}
