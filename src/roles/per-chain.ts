import type { ChainConfig, Config } from '../config/schema.ts'
import type { Common } from '../lib/common.ts'
import { connectLogs, type Logs } from '../log/connect.ts'
import type { RunningRole } from './role.ts'

export type ChainRun = {
  readonly chain: string
  readonly config: ChainConfig
  readonly logs: Logs
  readonly common: Common
  /** To be called once the chain is where the role can be relied upon. */
  readonly onCaughtUp: () => void
}

/** Runs a role's work for every configured chain at once; it is ready when all of them have caught up. */
export async function startPerChain(
  config: Config,
  common: Common,
  run: (chain: ChainRun) => Promise<void>,
): Promise<RunningRole> {
  const logs = await connectLogs(config.nats, common)
  common.shutdown.onClose('log', () => logs.close())
  const behind = new Set(Object.keys(config.chains))
  const runs = Object.entries(config.chains).map(([chain, chainConfig]) =>
    run({
      chain,
      config: chainConfig,
      logs,
      common: { ...common, logger: common.logger.child({ chain }) },
      onCaughtUp: () => behind.delete(chain),
    }),
  )
  return {
    readiness: () => (behind.size === 0 ? undefined : `not caught up yet: ${[...behind].join(', ')}`),
    done: Promise.all(runs).then(() => undefined),
  }
}
