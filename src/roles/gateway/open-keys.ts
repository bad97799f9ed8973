import type { Config, PlanConfig } from '../../config/schema.ts'
import { createKeyRing, type KeyRing } from '../../gateway/access/keys/key-ring.ts'
import type { Plan } from '../../gateway/access/keys/plan.ts'
import type { Common } from '../../lib/common.ts'
import type { Logs } from '../../log/connect.ts'

/** Loads all keys, then follows every change. */
export async function openKeys(
  config: Config,
  logs: Logs,
  common: Common,
  onChange: (keyId: string) => void,
): Promise<{ readonly keys: KeyRing; readonly plans: readonly Plan[] }> {
  const { signal } = common.shutdown
  const plans = Object.entries(config.plans).map(([name, plan]) => toPlan(name, plan))
  const keys = createKeyRing({
    plans: new Map(plans.map((plan) => [plan.name, plan])),
    onChange,
    logger: common.logger,
    now: Date.now,
  })
  const values = await logs.openLatest('KEYS')
  const current = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => current.reject(signal.reason), { once: true })
  values
    .watch({ signal, onValue: keys.apply, onCurrent: () => current.resolve() })
    .catch((error: unknown) => current.reject(error))
  // Until then, valid keys would be refused.
  await current.promise
  return { keys, plans }
}

function toPlan(name: string, plan: PlanConfig): Plan {
  const { sockets } = plan
  return {
    name,
    requestsPerSecond: plan.requests_per_second,
    historyReads: plan.history_reads,
    burst: plan.burst,
    cuPerMonth: plan.cu_per_month,
    sockets: {
      maxConnections: sockets.connections,
      maxSubscriptions: sockets.subscriptions,
      maxReplays: sockets.replays,
      maxPriceIds: sockets.price_ids,
      maxMultiKlinePairs: sockets.multi_kline_pairs,
      messagesPerSecond: sockets.messages_per_second,
      maxMessageBytes: sockets.message_bytes,
      isCompressed: sockets.compression,
    },
  }
}
