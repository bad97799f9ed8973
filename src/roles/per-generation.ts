import type { Config } from '../config/schema.ts'
import { chainOfStored, type FoldedChain } from '../domain/generation.ts'
import type { Common } from '../lib/common.ts'
import type { Logs } from '../log/connect.ts'
import { dropLabel } from './drop-label.ts'
import { FaultReports } from './fault-reports.ts'
import { LiveGenerations } from './live-generations.ts'
import type { RoleName } from './role.ts'
import { type Attempt, ChainSupervisor } from './supervise.ts'

/** `chain` is the public name; `stored` names this generation in stores, folders and logs. */
export type GenerationRun = Attempt &
  FoldedChain & {
    readonly stored: string
    /** Names it in metrics. */
    readonly label: () => string
  }

export type PerGenerationOptions = {
  readonly role: RoleName
  readonly config: Pick<Config, 'chains' | 'admin'>
  readonly logs: Logs
  readonly common: Common
  readonly run: (run: GenerationRun) => Promise<void>
  /** Called when a generation has stopped because the chain no longer has it. */
  readonly onGone?: (stored: string) => void
}

/** `until` of a generation may pass at any time. */
const LOOK_EVERY_MS = 1_000

/** Runs a role's work for every generation of every chain. The served ones decide whether the role is ready. */
export async function supervisePerGeneration(options: PerGenerationOptions): Promise<ChainSupervisor> {
  const { role, config, logs, common, run, onGone } = options
  const generations = await logs.generations()
  const live = new LiveGenerations(generations)
  const labelOf = (stored: string): string => live.labelOf(stored)
  const chains = Object.keys(config.chains)
  const reports = await FaultReports.open(role, logs, common, labelOf)
  const supervisor = new ChainSupervisor({
    // The run of an unreadable entry fails with the reason.
    chains: chains.flatMap((chain) => live.namesOf(chain) ?? [chain]),
    common,
    maxLagSeconds: config.admin.max_lag_seconds,
    isRequired: (stored) => live.isServed(stored),
    labelOf,
    onFault: (stored, fault) => reports.set(stored, fault),
    run: async (attempt) => {
      const { chain: stored } = attempt
      const found = live.find(stored)
      if (found !== undefined) await run({ ...attempt, ...found, stored, label: () => labelOf(stored) })
    },
  })
  const labels = new Map<string, readonly string[]>()
  const follow = (chain: string): void => {
    const wanted = live.namesOf(chain)
    // What runs goes on until the entry can be read.
    if (wanted === undefined || common.shutdown.signal.aborted) return
    for (const stored of wanted) supervisor.start(stored)
    for (const stored of supervisor.chains) {
      if (chainOfStored(stored) !== chain || wanted.includes(stored)) continue
      void supervisor.stop(stored).then(() => onGone?.(stored))
    }
    const now = wanted.map(labelOf)
    for (const before of labels.get(chain) ?? []) {
      if (!now.includes(before)) void dropLabel(common.metrics, before)
    }
    labels.set(chain, now)
  }
  for (const chain of chains) follow(chain)
  generations.onChange((chain) => {
    if (chains.includes(chain)) follow(chain)
  })
  const looking = setInterval(() => chains.forEach(follow), LOOK_EVERY_MS)
  looking.unref()
  common.shutdown.onClose('generations', () => clearInterval(looking))
  const quarantine = await logs.quarantine()
  quarantine.onChange((chain) => {
    for (const stored of live.namesOf(chain) ?? [chain]) supervisor.retryNow(stored)
  })
  return supervisor
}
