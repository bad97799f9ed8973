import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { WebSocket } from 'ws'

/** A client that does nothing wrong, in a thread of its own: it only asks, again and again, whether anybody is there. */

export type Probed = {
  readonly pings: number
  readonly worstMs: number
  /** So late was this thread's own clock at worst: on a busy machine everybody waits, not for the gateway alone. */
  readonly lagMs: number
}

export type Probe = { stop(): Promise<Probed> }

type Report = { readonly lateMs: number } | { readonly ended: Probed }
type Given = { readonly url: string; readonly apiKey: string; readonly lateMs: number }

const PAUSE_MS = 20
/** So long without an answer is no delay, but a gateway that hangs. */
const HANG_MS = 5_000

export async function startProbe(
  given: Given,
  on: { readonly late: (ms: number) => void; readonly failed: (error: Error) => void },
): Promise<Probe> {
  const worker = new Worker(new URL(import.meta.url), { workerData: given })
  const probed = new Promise<Probed>((resolve, reject) => {
    worker.on('message', (report: Report) => {
      if ('lateMs' in report) on.late(report.lateMs)
      else resolve(report.ended)
    })
    worker.on('error', (error) => {
      on.failed(error)
      reject(error)
    })
  })
  // The caller that does not wait for the end got the result above.
  probed.catch(() => undefined)
  await once(worker, 'online')
  return {
    stop: async () => {
      worker.postMessage('stop')
      const found = await probed
      await worker.terminate()
      return found
    },
  }
}

async function probe({ url, apiKey, lateMs }: Given): Promise<void> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers: { 'X-API-KEY': apiKey } })
  await once(socket, 'open')
  const send = (report: Report): void => parentPort?.postMessage(report)
  let pings = 0
  let worstMs = 0
  let lagMs = 0
  let sentAt = 0
  let dueAt = performance.now()
  let watch: NodeJS.Timeout | undefined
  const ask = (): void => {
    watch = setTimeout(() => {
      throw new Error(`the gateway has not answered a ping for ${HANG_MS} ms`)
    }, HANG_MS)
    sentAt = performance.now()
    lagMs = Math.max(lagMs, sentAt - dueAt)
    socket.send(`{"jsonrpc":"2.0","id":${pings},"method":"ping"}`)
  }
  socket.on('message', (data) => {
    const ms = performance.now() - sentAt
    if (String(data) !== `{"jsonrpc":"2.0","id":${pings},"result":"pong"}`)
      throw new Error(`received ${data}`)
    clearTimeout(watch)
    pings++
    worstMs = Math.max(worstMs, ms)
    if (ms > lateMs) send({ lateMs: ms })
    dueAt = performance.now() + PAUSE_MS
    setTimeout(ask, PAUSE_MS)
  })
  socket.on('close', (code) => {
    throw new Error(`an honest client was closed with ${code}`)
  })
  parentPort?.on('message', () => {
    socket.removeAllListeners('close')
    clearTimeout(watch)
    socket.once('close', () => send({ ended: { pings, worstMs, lagMs } }))
    socket.close()
  })
  ask()
}

if (!isMainThread) await probe(workerData as Given)
