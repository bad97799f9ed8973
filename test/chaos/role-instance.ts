import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { roleArgs } from '../../dev/main-args.ts'
import {
  isAlive,
  logTail,
  type RunningProcess,
  signalProcess,
  startProcess,
} from '../../src/sandbox/servers/process.ts'
import { RESTART_MS } from './restart.ts'
import type { RoleLinks } from './role-links.ts'

export type InstanceName =
  | 'reader-1'
  | 'reader-2'
  | 'engine-1'
  | 'engine-2'
  | 'writer'
  | 'gateway-1'
  | 'gateway-2'
export type RoleName = 'reader' | 'engine' | 'writer' | 'gateway'

const CLOCK = fileURLToPath(new URL('clock.ts', import.meta.url))

export type InstanceParts = {
  readonly name: InstanceName
  readonly role: RoleName
  /** Holds settings, state and log of this instance alone. */
  readonly dir: string
  readonly adminPort: number
  readonly links: RoleLinks
  readonly config: object
  /** Compiled modules, so that a restart takes as long as that of the package. */
  readonly compileCache: string
}

/** One process of a role, as a service manager runs it: started again whenever it ends. */
export class RoleInstance {
  readonly name: InstanceName
  readonly role: RoleName
  readonly links: RoleLinks
  readonly logFile: string
  /** Exits that nothing here has caused. */
  readonly ownExits: string[] = []
  /** LMDB may abort its process when its disk is full: until then, an exit is no fault. */
  excusedUntilMs = 0
  readonly #parts: InstanceParts
  readonly #configFile: string
  readonly #clockFile: string
  #running: RunningProcess | undefined
  #isWanted = false
  #isBeingKilled = false

  constructor(parts: InstanceParts) {
    this.#parts = parts
    this.name = parts.name
    this.role = parts.role
    this.links = parts.links
    mkdirSync(parts.dir, { recursive: true })
    this.logFile = join(parts.dir, 'role.log')
    this.#configFile = join(parts.dir, 'chaintape.yaml')
    this.#clockFile = join(parts.dir, 'clock')
    writeFileSync(this.#configFile, stringify(parts.config))
    this.jumpClock(0)
  }

  get configFile(): string {
    return this.#configFile
  }

  start(): void {
    this.#isWanted = true
    const { adminPort, compileCache, name, role } = this.#parts
    const running = startProcess({
      name,
      command: process.execPath,
      args: ['--import', CLOCK, ...roleArgs(role), '--config', this.#configFile],
      env: { ...unsetSettings(), CHAOS_CLOCK_FILE: this.#clockFile, NODE_COMPILE_CACHE: compileCache },
      logFile: this.logFile,
      ports: [adminPort],
      isReady: () => this.isReady(),
    })
    this.#running = running
    this.#isBeingKilled = false
    running.child.once('exit', (code, signal) => void this.#restart(code ?? signal))
  }

  /** The wall clock of the process is off by so much. */
  jumpClock(ms: number): void {
    writeFileSync(this.#clockFile, `${ms}`)
  }

  async isReady(): Promise<boolean> {
    const answer = await fetch(`http://127.0.0.1:${this.#parts.adminPort}/readyz`, {
      signal: AbortSignal.timeout(1_000),
    })
    return answer.ok
  }

  async kill(): Promise<void> {
    if (this.#running === undefined || !isAlive(this.#running)) return
    this.#isBeingKilled = true
    await signalProcess(this.#running, 'SIGKILL')
  }

  freeze(): void {
    this.#running?.child.kill('SIGSTOP')
  }

  resume(): void {
    this.#running?.child.kill('SIGCONT')
  }

  /** Ends it for good. */
  async stop(signal: NodeJS.Signals): Promise<void> {
    this.#isWanted = false
    if (this.#running !== undefined) await signalProcess(this.#running, signal)
  }

  async #restart(reason: number | string | null): Promise<void> {
    if (!this.#isWanted) return
    if (!this.#isBeingKilled && performance.now() > this.excusedUntilMs)
      this.ownExits.push(`${this.name} ended with ${reason}:\n${logTail(this.logFile, 3)}`)
    await sleep(RESTART_MS)
    if (this.#isWanted) this.start()
  }
}

/** Settings of the shell would override those of the file. */
function unsetSettings(): Record<string, undefined> {
  const names = Object.keys(process.env).filter((name) => name.startsWith('CHAINTAPE_'))
  return Object.fromEntries(names.map((name) => [name, undefined]))
}
