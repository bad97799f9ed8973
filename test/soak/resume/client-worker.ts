import { parentPort, workerData } from 'node:worker_threads'
import { comparePushes } from './compare.ts'
import { SoakClient } from './soak-client.ts'
import { type Subject, subjectKey } from './subject.ts'

export type WorkerStart = { readonly subjects: readonly Subject[]; readonly urls: readonly string[] }

export type ToWorker =
  | { readonly type: 'urls'; readonly urls: readonly string[] }
  | {
      readonly type: 'cut'
      readonly client: number
      readonly afterMessages: number
      readonly afterMs: number
    }
  | { readonly type: 'compare'; readonly expected: ReadonlyMap<string, readonly string[]> }

export type FromWorker =
  | ({ readonly type: 'progress' } & Progress)
  | ({ readonly type: 'compared' } & Compared)

export type Progress = { readonly received: number; readonly subscribed: number; readonly cuts: number }

export type Compared = {
  readonly faults: readonly string[]
  readonly conflated: number
  readonly resumed: number
  readonly closes: ReadonlyMap<number, number>
}

const PROGRESS_MS = 100
const start = workerData as WorkerStart
let urls = start.urls
const clients = start.subjects.map((subject, index) => new SoakClient(subject, index, () => urls))
const report = (message: FromWorker): void => parentPort?.postMessage(message)

const progress = setInterval(() => {
  const received = clients.reduce((sum, client) => sum + client.received.length, 0)
  const cuts = clients.reduce((sum, client) => sum + client.cuts, 0)
  const subscribed = clients.filter(({ isSubscribed }) => isSubscribed).length
  report({ type: 'progress', received, subscribed, cuts })
}, PROGRESS_MS)

parentPort?.on('message', (message: ToWorker) => {
  if (message.type === 'urls') urls = message.urls
  else if (message.type === 'cut') clients[message.client]?.cut(message.afterMessages, message.afterMs)
  else {
    clearInterval(progress)
    for (const client of clients) client.end()
    report({ type: 'compared', ...compareAll(message.expected) })
    parentPort?.close()
  }
})

function compareAll(expected: ReadonlyMap<string, readonly string[]>): Compared {
  const faults: string[] = []
  const closes = new Map<number, number>()
  let [conflated, resumed] = [0, 0]
  for (const [index, client] of clients.entries()) {
    const subject = start.subjects[index] as Subject
    const compared = comparePushes(subject, expected.get(subjectKey(subject)) ?? [], client.received)
    const all = compared.fault === undefined ? client.faults : [...client.faults, compared.fault]
    faults.push(...all.map((fault) => `${subjectKey(subject)}: ${fault}`))
    conflated += compared.conflated
    resumed += client.resumed
    for (const [code, count] of client.closes) closes.set(code, (closes.get(code) ?? 0) + count)
  }
  return { faults, conflated, resumed, closes }
}
