import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { stringify } from 'yaml'
import { MAIN_ARGS } from '../../../dev/main-args.ts'
import type { Stack } from '../../../src/sandbox/servers/stack.ts'
import { API_KEY, putTestKey, TEST_PLANS, withLogs } from '../builders/test-key.ts'
import { waitFor } from './wait-for.ts'

export type RoleName = 'reader' | 'engine' | 'writer' | 'gateway' | 'reconciler' | 'all'

export { API_KEY }

/** Four processes that start at once need their time on a machine under load. */
const START_MS = 120_000

type LogLine = {
  msg?: string
  port?: number
  admin_port?: number
  level?: number
  seq?: number
  request_id?: string
  err?: { message: string }
}

/** Those that a failed test leaves running end with the tests. */
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** One role in an OS process of its own. */
export class RoleProcess {
  readonly name: RoleName
  readonly #child: ChildProcess
  readonly #lines: LogLine[] = []
  readonly #exited: Promise<void>

  constructor(name: RoleName, configFile: string, logFile: string, mainArgs = MAIN_ARGS) {
    this.name = name
    this.#child = spawn(process.execPath, [...mainArgs, name, '--config', configFile], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: environmentWithoutSettings(),
    })
    running.add(this.#child)
    this.#exited = once(this.#child, 'exit').then(() => void running.delete(this.#child))
    const log = createWriteStream(logFile, { flags: 'a' })
    this.#child.stderr?.pipe(log, { end: false })
    createInterface({ input: this.#child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      log.write(`${line}\n`)
      this.#lines.push(line.startsWith('{') ? (JSON.parse(line) as LogLine) : { msg: line })
    })
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  get exitCode(): number | null {
    return this.#child.exitCode
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Waits for a log line with this message. */
  async logged(msg: string): Promise<LogLine> {
    return waitFor(
      `${this.name} to log "${msg}"`,
      () => {
        if (this.#child.exitCode !== null) {
          throw new Error(
            `${this.name} exited with ${this.#child.exitCode}: ${JSON.stringify(this.#lines.at(-1))}`,
          )
        }
        return this.#lines.find((line) => line.msg === msg)
      },
      START_MS,
    )
  }

  /** All log lines with this message so far. */
  linesOf(msg: string): readonly LogLine[] {
    return this.#lines.filter((line) => line.msg === msg)
  }

  async ready(): Promise<void> {
    const { admin_port } = await this.logged('Admin server listening')
    await waitFor(
      `${this.name} to be ready`,
      async () => {
        const answer = await fetch(`http://127.0.0.1:${admin_port}/readyz`)
        return answer.status === 200 ? true : undefined
      },
      START_MS,
    )
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    this.#child.kill(signal)
    await this.#exited
  }

  async exited(): Promise<number | null> {
    await this.#exited
    return this.#child.exitCode
  }
}

/** The four roles over a stack, each a process, with names of their own so that several can share the stack. */
export class Pipeline {
  readonly name: string
  readonly dir: string
  readonly configFile: string
  readonly #nats: { readonly urls: readonly string[]; readonly prefix: string }
  readonly #roles = new Map<RoleName, RoleProcess>()
  /** What node is given to start roles from now on; by default this build. */
  mainArgs: readonly string[] = MAIN_ARGS

  constructor(
    stack: Pick<Stack, 'natsUrls' | 'redisUrl' | 'clickhouseUrl' | 'rpcUrl'>,
    name: string,
    chain: Record<string, unknown> = {},
    settings: Record<string, unknown> = {},
  ) {
    this.name = name
    this.dir = mkdtempSync(join(tmpdir(), `chaintape-${name}-`))
    this.configFile = join(this.dir, 'chaintape.yaml')
    mkdirSync(join(this.dir, 'data'))
    this.#nats = { urls: stack.natsUrls, prefix: name }
    const config = {
      data_dir: join(this.dir, 'data'),
      nats: this.#nats,
      clickhouse: { url: stack.clickhouseUrl, database: name },
      redis: { url: stack.redisUrl, prefix: name },
      gateway: { port: 0 },
      plans: TEST_PLANS,
      admin: { reader_port: 0, engine_port: 0, writer_port: 0, gateway_port: 0, reconciler_port: 0 },
      chains: { local: { rpc_urls: [stack.rpcUrl], poll_ms: 20, ...chain } },
      ...settings,
    }
    writeFileSync(this.configFile, stringify(config))
  }

  /** Starts a role without waiting for it. */
  spawn(name: RoleName): void {
    const logFile = join(this.dir, `${name}.log`)
    this.#roles.set(name, new RoleProcess(name, this.configFile, logFile, this.mainArgs))
  }

  async start(...names: RoleName[]): Promise<void> {
    for (const name of names) this.spawn(name)
    if (names.includes('gateway') || names.includes('all')) await withLogs(this.#nats, putTestKey)
    await Promise.all(names.map((name) => this.role(name).ready()))
  }

  role(name: RoleName): RoleProcess {
    const role = this.#roles.get(name)
    if (role === undefined) throw new Error(`${name} was not started`)
    return role
  }

  /** SIGKILL, then a new process of the same role. */
  async killAndRestart(name: RoleName): Promise<void> {
    await this.role(name).kill('SIGKILL')
    await this.start(name)
  }

  /** Runs a command of the program to its end; gives its exit code and what it said. */
  async run(...command: string[]): Promise<{ code: number | null; output: string }> {
    const child = this.spawnCommand(...command)
    const exited = once(child, 'exit')
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    await exited
    return { code: child.exitCode, output: `${stdout}${stderr}` }
  }

  /** Starts a command of the program without waiting for it. */
  spawnCommand(...command: string[]): ChildProcessByStdio<null, Readable, Readable> {
    return spawn(process.execPath, [...MAIN_ARGS, ...command, '--config', this.configFile], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: environmentWithoutSettings(),
    })
  }

  async gatewayUrl(): Promise<string> {
    const gateway = this.#roles.get('gateway') ?? this.role('all')
    const { port } = await gateway.logged('Gateway listening')
    return `http://127.0.0.1:${port}`
  }

  /** Resolves once answers to `path` are as of this block. A fork replaces a block by one of another time. */
  async reaches(
    path: string,
    { number, time }: { number: number; time: number },
    timeoutMs?: number,
  ): Promise<void> {
    const look = async (): Promise<true | undefined> => {
      const { headers } = await this.get(path)
      const isThere =
        headers.get('X-Block') === String(number) && headers.get('X-Block-Time') === String(time)
      return isThere ? true : undefined
    }
    await waitFor(`${this.name} to reach block ${number}`, look, timeoutMs)
  }

  async get(path: string): Promise<{ status: number; body: unknown; headers: Headers }> {
    const answer = await fetch(`${await this.gatewayUrl()}${path}`, { headers: { 'X-API-KEY': API_KEY } })
    return { status: answer.status, body: await answer.json(), headers: answer.headers }
  }

  async post(path: string, body: unknown): Promise<{ status: number; body: unknown; headers: Headers }> {
    const answer = await fetch(`${await this.gatewayUrl()}${path}`, {
      method: 'POST',
      headers: { 'X-API-KEY': API_KEY, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: answer.status, body: await answer.json(), headers: answer.headers }
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await Promise.all(
      [...this.#roles.values()].map((role) => (role.exitCode === null ? role.kill(signal) : undefined)),
    )
    rmSync(this.dir, { recursive: true, force: true })
  }
}

/** Without the settings of the shell that runs the tests. */
export function environmentWithoutSettings(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('CHAINTAPE_')))
}
