import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Compared, FromWorker, Progress, ToWorker, WorkerStart } from './client-worker.ts'
import type { Subject } from './subject.ts'

const WORKERS = 2

type Running = { readonly worker: Worker; progress: Progress }

/** All clients of the soak, spread over some threads. */
export class Clients {
  readonly #workers: readonly Running[]

  constructor(subjects: readonly Subject[], urls: readonly string[]) {
    this.#workers = Array.from({ length: WORKERS }, (_, place) => {
      const own = subjects.filter((_, index) => index % WORKERS === place)
      const workerData: WorkerStart = { subjects: own, urls }
      const worker = new Worker(new URL('./client-worker.ts', import.meta.url), { workerData })
      const running: Running = { worker, progress: { received: 0, subscribed: 0, cuts: 0 } }
      worker.on('message', (message: FromWorker) => {
        if (message.type === 'progress') running.progress = message
      })
      return running
    })
  }

  get received(): number {
    return this.#workers.reduce((sum, { progress }) => sum + progress.received, 0)
  }

  get subscribed(): number {
    return this.#workers.reduce((sum, { progress }) => sum + progress.subscribed, 0)
  }

  get cuts(): number {
    return this.#workers.reduce((sum, { progress }) => sum + progress.cuts, 0)
  }

  useGateways(urls: readonly string[]): void {
    for (const { worker } of this.#workers) send(worker, { type: 'urls', urls })
  }

  cut(client: number, afterMessages: number, afterMs: number): void {
    const worker = this.#workers[client % WORKERS]?.worker
    if (worker !== undefined)
      send(worker, { type: 'cut', client: Math.floor(client / WORKERS), afterMessages, afterMs })
  }

  /** Closes them, and compares what each received with what it should have. */
  compare(expected: ReadonlyMap<string, readonly string[]>): Promise<Compared[]> {
    return Promise.all(
      this.#workers.map(async ({ worker }) => {
        const compared = new Promise<Compared>((resolve, reject) => {
          worker.once('error', reject)
          worker.on('message', (message: FromWorker) => {
            if (message.type === 'compared') resolve(message)
          })
        })
        const exited = once(worker, 'exit')
        send(worker, { type: 'compare', expected })
        const result = await compared
        await exited
        return result
      }),
    )
  }

  async stop(): Promise<void> {
    await Promise.all(this.#workers.map(({ worker }) => worker.terminate()))
  }
}

function send(worker: Worker, message: ToWorker): void {
  worker.postMessage(message)
}
