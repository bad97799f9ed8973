import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'

export const EXAMPLES = resolve(import.meta.dirname, '../../examples')

/** An example as a user runs it. */
export class Program {
  readonly lines: string[] = []
  readonly #child: ChildProcess
  #errors = ''

  constructor(file: string, environment: Readonly<Record<string, string>>) {
    this.#child = spawn(process.execPath, [resolve(EXAMPLES, file)], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const output = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream })
    output.on('line', (line) => this.lines.push(line))
    this.#child.stderr?.on('data', (text) => {
      this.#errors += String(text)
    })
  }

  get #isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Throws if it has ended, with what it printed. */
  assertRunning(): void {
    if (!this.#isRunning) throw new Error(`it ended: ${this.#errors}`)
  }

  /** Its lines, once it has ended by itself. */
  async finished(): Promise<readonly string[]> {
    if (this.#isRunning) await once(this.#child, 'close')
    if (this.#child.exitCode !== 0) throw new Error(`it failed: ${this.#errors}`)
    return this.lines
  }

  /** Without a chance to tidy up. */
  async kill(): Promise<void> {
    if (!this.#isRunning) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }
}
