import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { availableParallelism, constants, setPriority } from 'node:os'

/** The event loop of the gateway has this CPU, other processes here have the others. */
const GATEWAY_CPU = 0
const LAST_CPU = availableParallelism() - 1
const OTHER_CPUS = `${GATEWAY_CPU + 1}-${LAST_CPU}`

/**
 * All processes share one machine, and a client that waits for a CPU looks like one that waits for the gateway. So the
 * event loop of the gateway has a CPU of its own. On the others, honest clients, NATS, Redis and the publisher come first:
 * they need little and would have machines of their own. Attackers run while nothing else wants a CPU. Nothing runs in
 * real time: where such processes fill a CPU, Linux stops them for 50 ms of each second. Each row reports how long every
 * process waited for a CPU.
 */
export function placeGateway(pid: number): void {
  // Only its main thread: those that collect garbage help it from wherever there is room.
  if (LAST_CPU > 0) run('taskset', ['--cpu-list', '--pid', String(GATEWAY_CPU), String(pid)])
  prefer(pid, constants.priority.PRIORITY_HIGHEST)
}

export function placeBystander(pid: number): void {
  leaveGatewayCpu(pid)
  for (const thread of readdirSync(`/proc/${pid}/task`))
    prefer(Number(thread), constants.priority.PRIORITY_HIGH)
}

export function placeAttackers(pid: number): void {
  leaveGatewayCpu(pid)
  run('chrt', ['--all-tasks', '--idle', '--pid', '0', String(pid)])
}

export function leaveGatewayCpu(pid: number): void {
  if (LAST_CPU > 0) run('taskset', ['--all-tasks', '--cpu-list', '--pid', OTHER_CPUS, String(pid)])
}

function prefer(thread: number, priority: number): void {
  try {
    setPriority(thread, priority)
  } catch (error) {
    // Only root may.
    report('setpriority', String(error))
  }
}

function run(command: 'chrt' | 'taskset', args: readonly string[]): void {
  const { error, status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) report(command, error?.message ?? stderr.trim())
}

const reported = new Set<string>()

function report(command: string, failure: string): void {
  if (!reported.has(command))
    console.log(`Times include waiting for a CPU, because ${command} failed: ${failure}`)
  reported.add(command)
}
