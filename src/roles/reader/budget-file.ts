import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RpcBudget } from '../../chain/rpc/endpoint-pool.ts'
import type { BudgetLimits, SpentBudget } from '../../chain/rpc/request-budget.ts'
import type { Logger } from '../../lib/logger.ts'

const FILE = 'rpc-budget.json'
/** What a process that is killed forgets. */
const SAVE_EVERY_MS = 2_000

/** The requests of today by endpoint, kept in a file, so that a restart does not begin the day again. */
export function openBudgetFile(
  dir: string,
  limits: BudgetLimits,
  logger: Logger,
): RpcBudget & { close(): void } {
  const path = join(dir, FILE)
  const spent = new Map(Object.entries(load(path)))
  let savedAt = 0
  let isFailing = false
  const save = (): void => {
    savedAt = Date.now()
    try {
      // Renamed, because a file that is cut off would begin the day again.
      writeFileSync(`${path}.new`, JSON.stringify(Object.fromEntries(spent)))
      renameSync(`${path}.new`, path)
      isFailing = false
    } catch (error) {
      if (!isFailing) logger.warn({ err: error }, 'RPC budget of the day not saved')
      isFailing = true
    }
  }
  return {
    limits,
    spentBefore: (endpoint) => spent.get(endpoint),
    onSpent: (endpoint, today) => {
      spent.set(endpoint, today)
      if (Date.now() - savedAt >= SAVE_EVERY_MS) save()
    },
    close: save,
  }
}

/** Nothing if there is no file, or none that can be read: then the day begins with this process. */
function load(path: string): Record<string, SpentBudget> {
  try {
    const entries = Object.entries(JSON.parse(readFileSync(path, 'utf8')) as object)
    return Object.fromEntries(entries.filter(([, spent]) => isSpent(spent)))
  } catch {
    return {}
  }
}

function isSpent(value: Partial<SpentBudget> | null): boolean {
  return Number.isSafeInteger(value?.day) && Number.isSafeInteger(value?.requests)
}
