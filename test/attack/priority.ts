import { spawnSync } from 'node:child_process'
import { setPriority } from 'node:os'

/**
 * All processes share one machine, and a client that waits for a CPU looks like one that waits for the gateway. So
 * the processes on the path of an honest request or push run in real time. Clients, NATS, Redis and the publisher come
 * first: they need little and would have machines of their own. Then the gateway; the attackers get the CPU that is left.
 *
 * Without CAP_SYS_NICE nothing is preferred. Each row reports how long every process waited for a CPU.
 */
export function preferBystander(pid: number): void {
  prefer(pid, 2)
}

export function preferGateway(pid: number): void {
  prefer(pid, 1)
}

/** The publisher. Its children, the attackers among them, must not inherit the priority. */
export function preferThisProcess(): void {
  prefer(process.pid, 2, '--reset-on-fork')
}

/**
 * Not in real time: they would starve all other processes, and Linux then takes 5 % of each CPU from real-time processes,
 * the gateway included. On a busy machine the attack is therefore weaker; the row reports how long attackers waited.
 */
export function placeAttackers(pid: number): void {
  try {
    setPriority(pid, -10)
  } catch {
    // No CAP_SYS_NICE: the attackers step back instead.
    setPriority(pid, 10)
  }
}

let isRefusalReported = false

function prefer(pid: number, priority: number, ...options: readonly string[]): void {
  const args = ['--all-tasks', ...options, '--rr', '--pid', String(priority), String(pid)]
  const { error, status, stderr } = spawnSync('chrt', args, { encoding: 'utf8' })
  if (status === 0) return
  // A process that has ended meanwhile needs no priority, and each later refusal has the same cause.
  if (isRefusalReported || !isRunning(pid)) return
  isRefusalReported = true
  const cause = error?.message ?? stderr.trim()
  console.log(`Nothing runs in real time, so times include waiting for a CPU: ${cause}`)
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
