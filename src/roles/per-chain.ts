import type { ChainConfig, Config } from '../config/schema.ts'
import type { Common } from '../lib/common.ts'
import { connectLogs, type Logs } from '../log/connect.ts'
import { quarantineDetails } from '../log/quarantine.ts'
import { FaultReports } from './fault-reports.ts'
import type { RoleName, RunningRole } from './role.ts'
import { type Attempt, ChainSupervisor } from './supervise.ts'

export type ChainRun = Attempt & { readonly config: ChainConfig; readonly logs: Logs }

/** Runs a role's work for every configured chain; the role is ready once all of them have caught up. */
export async function startPerChain(
  role: RoleName,
  config: Config,
  common: Common,
  run: (chain: ChainRun) => Promise<void>,
): Promise<RunningRole> {
  const logs = await connectLogs(config.nats, common)
  common.shutdown.onClose('log', () => logs.close())
  const reports = await FaultReports.open(role, logs, common)
  const supervisor = new ChainSupervisor({
    chains: Object.keys(config.chains),
    common,
    maxLagSeconds: config.admin.max_lag_seconds,
    onFault: (chain, fault) => reports.set(chain, fault),
    run: (attempt) => run({ ...attempt, config: config.chains[attempt.chain] as ChainConfig, logs }),
  })
  const quarantine = await logs.quarantine()
  quarantine.onChange((chain) => supervisor.retryNow(chain))
  return {
    readiness: () => supervisor.readiness(),
    details: () => quarantineDetails(quarantine),
    done: supervisor.done,
  }
}
