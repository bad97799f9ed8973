import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** One operating-system process of the stack: how to start it, and how to see that it answers. */
export type ProcessPlan = {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  /** In addition to the variables here; undefined removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly logFile: string
  /** Ports it listens on; all must be its own before it counts as started. */
  readonly ports: readonly number[]
  isReady(): Promise<boolean>
}

export type RunningProcess = {
  readonly plan: ProcessPlan
  readonly pid: number
  readonly child: ChildProcess
}

export class PortTakenError extends Error {}
export class TimeoutError extends Error {}

const readyTimeoutMs = 60_000
const stopTimeoutMs = 10_000
const pollMs = 25

const liveProcesses = new Set<RunningProcess>()
const temporaryFolders = new Set<string>()
let cleanupInstalled = false

/** Removes the folder when this process ends, unless `forgetTemporaryFolder` came first. */
export function removeAtExit(folder: string): void {
  installCleanup()
  temporaryFolders.add(folder)
}

export function forgetTemporaryFolder(folder: string): void {
  temporaryFolders.delete(folder)
}

export function startProcess(plan: ProcessPlan): RunningProcess {
  installCleanup()
  const [command, args] = withDeathSignal(plan.command, plan.args)
  const log = openSync(plan.logFile, 'a')
  try {
    const child = spawn(command, args, {
      stdio: ['ignore', log, log],
      env: { ...process.env, ...plan.env },
      // Ctrl-C in a terminal goes to a whole group of processes: who stops what, and when, is decided here.
      detached: true,
    })
    if (child.pid === undefined) {
      child.on('error', () => {})
      throw new Error(`${plan.name}: cannot start ${plan.command}; run dev/setup and source dev/.env.sh`)
    }
    // A caller that forgets stop() must still be able to end; the exit handler then ends the child.
    child.unref()
    const running = { plan, pid: child.pid, child }
    liveProcesses.add(running)
    child.once('exit', () => liveProcesses.delete(running))
    return running
  } finally {
    closeSync(log)
  }
}

export function isAlive(running: RunningProcess): boolean {
  return running.child.exitCode === null && running.child.signalCode === null
}

export async function waitUntilReady(running: RunningProcess): Promise<void> {
  const { plan } = running
  const deadline = Date.now() + readyTimeoutMs
  while (Date.now() < deadline) {
    if (!isAlive(running)) throw startError(running, 'ended while starting')
    // Another program may hold the port for the moment until ours fails to bind it, so an answer
    // alone does not prove that it came from our process.
    if (ownsPorts(running.pid, plan.ports) && (await plan.isReady().catch(() => false))) return
    await sleep(pollMs)
  }
  throw startError(running, `did not answer within ${readyTimeoutMs / 1000} s`)
}

export async function waitFor(
  what: string,
  condition: () => Promise<boolean>,
  timeoutMs = readyTimeoutMs,
): Promise<void> {
  const deadline = Date.now() + timeoutMs
  while (Date.now() < deadline) {
    if (await condition().catch(() => false)) return
    await sleep(pollMs)
  }
  throw new TimeoutError(`${what}: not so within ${timeoutMs / 1000} s`)
}

const endingSignals: ReadonlySet<NodeJS.Signals> = new Set(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGQUIT'])

/** Sends the signal and, for one that ends a process, waits until it has ended. */
export async function signalProcess(running: RunningProcess, signal: NodeJS.Signals): Promise<void> {
  if (!isAlive(running)) return
  const ended = exitOf(running)
  running.child.kill(signal)
  if (!endingSignals.has(signal)) return
  if (signal !== 'SIGKILL') {
    // A stopped process would not see the signal before it is continued.
    running.child.kill('SIGCONT')
    const timeout = setTimeout(() => running.child.kill('SIGKILL'), stopTimeoutMs)
    await ended
    clearTimeout(timeout)
    return
  }
  await ended
}

function exitOf(running: RunningProcess): Promise<void> {
  running.child.ref()
  return new Promise((resolve) => running.child.once('exit', () => resolve()))
}

export function logTail(file: string, lines = 20): string {
  if (!existsSync(file)) return '(no log)'
  const tail = readFileSync(file, 'utf8').trimEnd().split('\n').slice(-lines).join('\n')
  return tail === '' ? '(empty log)' : tail
}

function startError(running: RunningProcess, what: string): Error {
  const { name, logFile } = running.plan
  const tail = logTail(logFile)
  const message = `${name} ${what}; the end of ${logFile}:\n${tail}`
  return /address already in use|EADDRINUSE/i.test(tail) ? new PortTakenError(message) : new Error(message)
}

// Below the range from which the kernel takes ports for outgoing connections: a client that reconnects to a
// stopped service could otherwise be given that very port and connect to itself.
const firstPort = 15_000
const lastPort = 31_999
const handedOut = new Set<number>()

export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  for (let attempt = 0; ports.length < count; attempt++) {
    if (attempt > 1000) throw new Error('no free port found')
    const port = firstPort + Math.floor(Math.random() * (lastPort - firstPort + 1))
    if (handedOut.has(port) || !(await canListen(port))) continue
    handedOut.add(port)
    ports.push(port)
  }
  return ports
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)))
  })
}

/** Checks the kernel's table on Linux; elsewhere the response of the service has to do. */
function ownsPorts(pid: number, ports: readonly number[]): boolean {
  if (process.platform !== 'linux') return true
  try {
    const sockets = new Set<string>()
    for (const descriptor of readdirSync(`/proc/${pid}/fd`)) {
      try {
        sockets.add(readlinkSync(`/proc/${pid}/fd/${descriptor}`))
      } catch {
        // Closed between the listing and the look.
      }
    }
    const listening = new Map<number, string>()
    for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
      if (!existsSync(table)) continue
      for (const line of readFileSync(table, 'utf8').split('\n').slice(1)) {
        const [, local, , state, , , , , , inode] = line.trim().split(/\s+/)
        const port = Number.parseInt(local?.split(':')[1] ?? '', 16)
        if (state === '0A' && sockets.has(`socket:[${inode}]`)) listening.set(port, `${inode}`)
      }
    }
    return ports.every((port) => listening.has(port))
  } catch {
    return false
  }
}

const setpriv =
  process.platform === 'linux' ? ['/usr/bin/setpriv', '/bin/setpriv'].find(existsSync) : undefined

/** Lets the kernel end the child when this process ends in a way that no handler of ours sees (SIGKILL). */
function withDeathSignal(command: string, args: readonly string[]): [string, string[]] {
  if (setpriv === undefined) return [command, [...args]]
  return [setpriv, ['--pdeathsig', 'KILL', '--', command, ...args]]
}

function installCleanup(): void {
  if (cleanupInstalled) return
  cleanupInstalled = true
  process.on('exit', () => {
    for (const running of liveProcesses) running.child.kill('SIGKILL')
    for (const folder of temporaryFolders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const endAsWithoutUs = () => {
      process.removeListener(signal, endAsWithoutUs)
      if (process.listenerCount(signal) > 0) return
      for (const running of liveProcesses) running.child.kill('SIGKILL')
      for (const folder of temporaryFolders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
      process.kill(process.pid, signal)
    }
    process.on(signal, endAsWithoutUs)
  }
}
