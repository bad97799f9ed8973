import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { Config } from '../../config/schema.ts'
import type { Refusal } from '../../gateway/access/metering/account-state.ts'
import { Meter } from '../../gateway/access/metering/meter.ts'
import { SharedRates } from '../../gateway/access/metering/shared-rates.ts'
import { readSpentByGateway, UsageLedger } from '../../gateway/access/metering/usage-ledger.ts'
import type { Common } from '../../lib/common.ts'
import type { Logs } from '../../log/connect.ts'
import type { LatestValues } from '../../log/latest-values.ts'
import { openQuotaStore } from '../../store/redis/quota-store.ts'
import { openRateStore } from '../../store/redis/rate-store.ts'

export type OpenMeter = {
  readonly meter: Meter
  readonly ledger: UsageLedger
  readonly usage: LatestValues
  readonly bucketOf: SharedRates['bucketOf']
}

/** A lease of a crashed gateway expires after this time. */
const LEASE_MS = 60_000
const RECALL = 'recall'

/** Charges quota in Redis and records usage in NATS; both are settled at shutdown. */
export async function openMeter(
  config: Config,
  logs: Logs,
  common: Common,
  onRefusal: (reason: Refusal['reason']) => void,
): Promise<OpenMeter> {
  const { logger, shutdown } = common
  // Totals are stored per process, so a restarted process gets a new identity.
  const gateway = randomBytes(8).toString('hex')
  const usage = await logs.openLatest('USAGE')
  const ledger = new UsageLedger(usage, gateway)
  const store = await openQuotaStore(
    {
      ...config.redis,
      gateway,
      leaseMs: LEASE_MS,
      remembered: ({ keyId, month }) => readSpentByGateway(usage, keyId, month),
    },
    common,
  )
  shutdown.onClose('quota store', () => store.close())
  const rateStore = await openRateStore({ ...config.redis, gateway }, common)
  shutdown.onClose('rate store', () => rateStore.close())
  const rates = new SharedRates({
    store: rateStore,
    onFailure: (error) => logger.warn({ err: error }, 'Redis unavailable; request rate limited locally'),
    now: () => performance.now(),
  })
  shutdown.onClose('request rates', () => rates.close())
  const meter = new Meter({
    ...{ store, ledger, leaseUnits: config.gateway.lease_cu, leaseMs: LEASE_MS, onRefusal, logger },
    overdraftMs: config.gateway.overdraft_seconds * 1_000,
    reportRecall: (keyId) => logs.publish(RECALL, `${gateway} ${keyId}`),
    signal: shutdown.signal,
  })
  logs.subscribe(RECALL, (text) => {
    const [sender, keyId = ''] = text.split(' ')
    if (sender !== gateway) meter.giveBack(keyId)
  })
  shutdown.onClose('meter', () => meter.close())
  void meter.run()
  return { meter, ledger, usage, bucketOf: rates.bucketOf }
}
