import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/** A pid may have been given to another process since; with the start time it names one process for good. */
export type ProcessIdentity = { readonly pid: number; readonly startTime: string }

export function identityOf(pid: number): ProcessIdentity | undefined {
  const startTime = existsSync('/proc/self/stat') ? startTimeFromProc(pid) : startTimeFromPs(pid)
  return startTime === undefined ? undefined : { pid, startTime }
}

export function isRunning(identity: ProcessIdentity): boolean {
  return identityOf(identity.pid)?.startTime === identity.startTime
}

function startTimeFromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The program's name, in parentheses, may hold blanks and parentheses itself.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const isZombie = fields[0] === 'Z'
    return isZombie ? undefined : fields[19]
  } catch {
    return undefined
  }
}

function startTimeFromPs(pid: number): string | undefined {
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', `${pid}`], { encoding: 'utf8' }).trim() || undefined
  } catch {
    return undefined
  }
}
