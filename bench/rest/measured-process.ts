import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

const REPORT_CPU = new URL('report-cpu.ts', import.meta.url).href
const SERVER_CORE = '1'
const LOAD_CORE = '0'

/** A program in a process of its own, on another core than this one if there are two. */
export class MeasuredProcess {
  readonly #child: ChildProcess
  readonly #name: string

  /** Runs this program, or node with any other arguments. */
  constructor(program: URL | readonly string[], args: readonly string[] = []) {
    const main = program instanceof URL ? [fileURLToPath(program)] : program
    const node = [process.execPath, '--import', REPORT_CPU, ...main, ...args]
    const [command = '', ...rest] = canPin() ? ['taskset', '-c', SERVER_CORE, ...node] : node
    this.#name = main.join(' ')
    this.#child = spawn(command, rest, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  }

  async cpuSeconds(): Promise<number> {
    return (await this.ask('cpu')) as number
  }

  /** One question at a time: what the process says next is the answer. */
  async ask(question: unknown): Promise<unknown> {
    this.#child.send(question as object)
    return this.hear()
  }

  async hear(): Promise<unknown> {
    const given = new AbortController()
    const { signal } = given
    try {
      return await Promise.race([
        once(this.#child, 'message', { signal }).then(([message]: unknown[]) => message),
        once(this.#child, 'exit', { signal }).then(() => {
          throw new Error(`${this.#name} ended`)
        }),
      ])
    } finally {
      given.abort()
    }
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exited = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await exited
  }
}

/** The load must not take the servers' core. */
export function leaveServerCore(): void {
  if (canPin())
    execFileSync('taskset', ['-a', '-p', '-c', LOAD_CORE, String(process.pid)], { stdio: 'ignore' })
}

function canPin(): boolean {
  return process.platform === 'linux' && availableParallelism() > 1
}
