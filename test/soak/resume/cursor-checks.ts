import assert from 'node:assert/strict'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { API_KEY } from '../../support/builders/test-key.ts'
import { waitFor } from '../../support/rigs/wait-for.ts'
import { type Push, textOf } from './soak-client.ts'
import { paramsOf, type Subject } from './subject.ts'

type Answer = {
  readonly result: {
    readonly cursor: string
    readonly recovered?: boolean
    readonly reason?: { readonly code: number }
  }
}

const CURSOR_TOO_OLD = -32005
/** Time for pushes that should not come. */
const GRACE_MS = 500

/**
 * A client with a cursor of another log must get `recovered: false`, and the new cursor that it gets must work at every
 * gateway.
 */
export async function checkForeignCursor(urls: readonly string[], subject: Subject): Promise<void> {
  const [first, second] = urls as [string, string]
  const { cursor } = (await subscribe(first, subject, undefined)).result
  const foreign = await subscribe(second, subject, ofAnotherLog(cursor))
  assertNotRecovered(foreign)
  assert.equal((await subscribe(first, subject, foreign.result.cursor)).result.recovered, true)
}

/** A cursor at the head. */
export async function cursorOf(url: string, subject: Subject): Promise<string> {
  return (await subscribe(url, subject, undefined)).result.cursor
}

/**
 * A cursor older than the log. Swaps of a pair are replayed from history, each once. Other topics cannot be recovered,
 * and the response must say so.
 */
export async function checkExpiredCursor(
  url: string,
  subject: Subject,
  cursor: string,
  left: readonly string[],
): Promise<void> {
  if (subject.topic !== 'tx') {
    assertNotRecovered(await subscribe(url, subject, cursor))
    return
  }
  const pushes: Push[] = []
  const answer = await subscribe(url, subject, cursor, pushes, left.length)
  assert.equal(answer.result.recovered, true)
  assert.deepEqual(
    pushes.map(({ result = {} }) => textOf(result)),
    left,
  )
}

/** Waits for `count` pushes, and then for any that should not come. */
async function subscribe(
  url: string,
  subject: Subject,
  from: string | undefined,
  pushes: Push[] = [],
  count = 0,
): Promise<Answer> {
  const socket = new WebSocket(`${url}/ws`, { headers: { 'X-API-KEY': API_KEY } })
  let answer: Answer | undefined
  socket.on('message', (data) => {
    const message: unknown = JSON.parse(String(data))
    if (answer === undefined) answer = message as Answer
    else pushes.push(message as Push)
  })
  try {
    await once(socket, 'open')
    const params = paramsOf(subject, from)
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscribe', params }))
    const found = await waitFor('an answer', () => answer)
    if (count === 0) return found
    await waitFor('the replay', () => (pushes.length >= count ? true : undefined))
    await sleep(GRACE_MS)
    return found
  } finally {
    socket.terminate()
  }
}

function assertNotRecovered({ result }: Answer): void {
  assert.equal(result.recovered, false)
  assert.equal(result.reason?.code, CURSOR_TOO_OLD)
}

/** Forges a cursor of another installation; clients must treat cursors as opaque. */
function ofAnotherLog(cursor: string): string {
  const [form, body] = cursor.split('.') as [string, string]
  const rows = JSON.parse(Buffer.from(body, 'base64url').toString()) as [string, string, ...unknown[]][]
  const others = rows.map(([chain, epoch, ...rest]) => [chain, `${epoch.slice(0, -1)}~`, ...rest])
  return `${form}.${Buffer.from(JSON.stringify(others)).toString('base64url')}`
}
