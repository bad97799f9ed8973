import { setTimeout as sleep } from 'node:timers/promises'
import { type Attack, addressOf, crowd, scaled, type Tally, type Target } from './attack.ts'
import { frame, PING, RawSocket, TEXT } from './raw-socket.ts'
import { ATTACKER_CONNECTIONS, CHAIN } from './settings.ts'

/** What a message says, as an outcome. */
export function meaningOf(text: string): string {
  if (!text.startsWith('{') && !text.startsWith('[')) return text
  const answer: unknown = JSON.parse(text)
  if (Array.isArray(answer))
    return `batch of ${[...new Set(answer.map((each) => meaning(each)))].sort().join(', ')}`
  return meaning(answer)
}

function meaning(answer: unknown): string {
  const { error, result } = answer as { error?: { code: number }; result?: { topic?: string } | string }
  if (error !== undefined) return `error ${error.code}`
  return typeof result === 'object' && result.topic !== undefined ? 'push' : 'ok'
}

/** As many connections as the key may have, or fewer in a small run. */
const connections = (target: Target): number => ATTACKER_CONNECTIONS / target.share

const open = (target: Target, index: number): Promise<RawSocket> =>
  RawSocket.upgrade(target.port, addressOf(target, index), { 'x-api-key': target.apiKey })

const request = (id: number, method: string, params: readonly unknown[]) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})

const INTERVALS = ['s1', 'k1', 'k5', 'k15', 'k30', 'k60', 'k120', 'k240', 'k1440', 'k10080']

/** The nth of all that can be subscribed to. */
function topicOf({ pairs }: Target, nth: number): unknown[] {
  const pair = pairs[nth % pairs.length]
  const kind = Math.floor(nth / pairs.length)
  return kind === 0 ? ['tx', pair, CHAIN] : ['kline', pair, INTERVALS[(kind - 1) % INTERVALS.length], CHAIN]
}

const BATCH = 20
const PATIENCE_MS = 8_000

/** A batch may be served in part and refused for its size, its rate or both: that depends on where the pace ends it. */
const PARTLY_REFUSED = [
  'batch of ok',
  'batch of error -32002',
  'batch of error -32004',
  'batch of error -32002, error -32004',
  'batch of error -32002, ok',
  'batch of error -32004, ok',
  'batch of error -32002, error -32004, ok',
]

const subscriptionFlood: Attack = {
  name: 'subscription flood',
  must: ['ok', 'error -32002', 'error -32004', 'closed 4429', '400 limit_exceeded'],
  may: ['push', ...PARTLY_REFUSED],
  run: (target) =>
    crowd(target, connections(target), async (index, tally, endsAt) => {
      const socket = await open(target, index)
      if (!socket.isOpen) return tally.add(await socket.outcome)
      socket.onMessage = (text) => tally.add(meaningOf(text))
      for (let nth = 0; socket.isOpen && performance.now() < endsAt; nth += BATCH) {
        const asked = Array.from({ length: BATCH }, (_, at) =>
          request(nth + at, 'subscribe', topicOf(target, nth + at)),
        )
        // In a batch, or each for itself; at the pace that is allowed, or not.
        if (index % 2 === 0) socket.say(JSON.stringify(asked))
        else for (const each of asked) socket.say(JSON.stringify(each))
        if (index === 0) await tryMore(target, tally)
        if (index !== 3) await sleep(1_050)
        else if (nth > 2_000) {
          tally.add(await socket.outcome)
          break
        }
      }
      socket.destroy()
      await sleep(300)
    }),
}

/** Too many of the key, even if one of the others is just away. */
async function tryMore(target: Target, tally: Tally): Promise<void> {
  await sleep(200)
  const more = await Promise.all([open(target, 0), open(target, 0)])
  for (const each of more) {
    if (!each.isOpen) tally.add(await each.outcome)
    each.destroy()
  }
}

const churn: Attack = {
  name: 'subscribe and unsubscribe',
  must: ['ok', 'error -32004', 'closed 4429'],
  may: ['push'],
  run: (target) => {
    const unknown = Array.from(
      { length: 100 },
      (_, at) => `0x${(0xabcdef + at).toString(16).padStart(40, '0')}`,
    )
    const ids = [...target.pairs, ...unknown].slice(0, 200).map((address) => `${address}-${CHAIN}`)
    const dear = ['price', ids]
    return crowd(target, connections(target), async (index, tally, endsAt) => {
      const socket = await open(target, index)
      if (!socket.isOpen) return tally.add(await socket.outcome)
      socket.onMessage = (text) => tally.add(meaningOf(text))
      const isHasty = index % 5 === 1
      for (let id = 0; socket.isOpen && performance.now() < endsAt; id += 2) {
        socket.say(JSON.stringify(request(id, 'subscribe', dear)))
        socket.say(JSON.stringify(request(id + 1, 'unsubscribe', dear)))
        if (!isHasty) await sleep(110)
        else if (id > 2_000) {
          tally.add(await socket.outcome)
          break
        }
      }
      socket.destroy()
      await sleep(300)
    })
  },
}

const batches: Attack = {
  name: 'batches',
  must: ['error -32002', 'error -32600', 'batch of error -32600', 'batch of ok', 'batch of error -32004'],
  // For a batch that begins within the rate and ends beyond it.
  may: [...PARTLY_REFUSED, 'error -32004'],
  run: (target) => {
    const pings = (count: number): string =>
      JSON.stringify(Array.from({ length: count }, (_, id) => request(id, 'ping', [])))
    return crowd(target, connections(target), async (index, tally) => {
      const socket = await open(target, index)
      if (!socket.isOpen) return tally.add(await socket.outcome)
      for (const said of [pings(21), pings(800), `[${'1,'.repeat(32_000)}1]`, '[]', '[[]]', '[1,2]']) {
        tally.add(meaningOf(await socket.ask(said)))
      }
      await sleep(1_000)
      // Each request of a batch counts: the first takes all there is. One answer for each, however long it was.
      let answers = 0
      const answered = Promise.withResolvers<void>()
      socket.onMessage = (text) => {
        tally.add(answers++ < 2 ? meaningOf(text) : `unasked: ${meaningOf(text)}`)
        if (answers === 2) answered.resolve()
      }
      // In one write: a gateway that is kept waiting in between would grant some of the second.
      socket.write(Buffer.concat([frame(TEXT, pings(BATCH)), frame(TEXT, pings(BATCH))]))
      await Promise.race([answered.promise, socket.outcome, sleep(PATIENCE_MS)])
      await sleep(300)
      socket.destroy()
      await sleep(200)
    })
  },
}

const unreadAnswers: Attack = {
  name: 'answers and pongs that nobody reads',
  must: ['closed 4429'],
  may: ['ok', 'push', 'error -32004'],
  run: (target) =>
    crowd(target, connections(target), async (index, tally) => {
      const socket = await open(target, index)
      if (!socket.isOpen) return tally.add(await socket.outcome)
      socket.onMessage = (text) => tally.add(meaningOf(text))
      socket.socket.pause()
      for (let nth = 0; nth < BATCH / 2; nth++)
        socket.say(JSON.stringify(request(nth, 'subscribe', topicOf(target, nth))))
      const flood = floodOf(index)
      const until = performance.now() + 2_000
      while (!socket.socket.destroyed && performance.now() < until) {
        if (socket.socket.writableLength < 1_000_000) socket.write(flood)
        await sleep(10)
      }
      socket.socket.resume()
      tally.add(await Promise.race([socket.outcome, sleep(5_000, 'still open')]))
      socket.destroy()
      await sleep(300)
    }),
}

function floodOf(index: number): Buffer {
  const one = index % 2 === 0 ? frame(PING, 'x'.repeat(125)) : frame(1, '{"method":"ping"}')
  return Buffer.concat(Array.from({ length: 500 }, () => one))
}

/** Says each thing and compares what is answered; slowly enough not to be refused for that alone. */
export async function converse(
  target: Target,
  count: number,
  said: readonly (readonly [string | Buffer, string])[],
  judge: (expected: string, answer: string, what: string, tally: Tally) => void,
): Promise<Tally> {
  return crowd(
    target,
    Math.min(count, scaled(count, target) / target.share),
    async (index, tally, endsAt) => {
      let socket = await open(target, index)
      for (const [what, expected] of said) {
        if (performance.now() > endsAt + 5_000) break
        if (!socket.isOpen || socket.goodbye !== undefined) {
          socket.destroy()
          await sleep(200)
          socket = await open(target, index)
        }
        judge(expected, meaningOf(await socket.ask(what)), String(what), tally)
        await sleep(60)
      }
      socket.destroy()
      await sleep(200)
    },
  )
}

export const MESSAGE_ATTACKS = [subscriptionFlood, churn, batches, unreadAnswers]
