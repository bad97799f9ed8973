import { setTimeout as sleep } from 'node:timers/promises'
import type { JetStreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Logger } from '../lib/logger.ts'
import type { ConsumerWatch } from './consume.ts'
import { inTime } from './in-time.ts'

const LOOK_MS = 2_000
/** Together longer than an election, during which no node of the cluster answers. */
const FAILED_LOOKS = 5

/**
 * Moves the connection to another node when its own is cut off from the cluster, or has disabled JetStream because of a full
 * disk. Such a node keeps its clients and answers their pings, but delivers and stores nothing. Returns when the connection
 * is closed.
 */
export async function leaveIsolatedNode(
  connection: NatsConnection,
  manager: JetStreamManager,
  { isConnected }: Pick<ConsumerWatch, 'isConnected'>,
  logger: Logger,
): Promise<void> {
  if (connection.info?.cluster === undefined) return
  let failedLooks = 0
  while (!connection.isClosed()) {
    // The cluster's leader answers.
    const [answer] = await Promise.allSettled([
      inTime(manager.getAccountInfo()),
      sleep(LOOK_MS, undefined, { ref: false }),
    ])
    const isFailed = answer.status === 'rejected' && isConnected()
    failedLooks = isFailed ? failedLooks + 1 : 0
    if (!isFailed || failedLooks < FAILED_LOOKS || connection.isClosed()) continue
    failedLooks = 0
    logger.warn(
      { err: answer.reason, node: connection.getServer() },
      'NATS node is cut off from its cluster; reconnecting to another node',
    )
    await reconnectElsewhere(connection)
  }
}

async function reconnectElsewhere(connection: NatsConnection): Promise<void> {
  const nodes = connection.getServers().map(({ listen }) => listen)
  const others = nodes.filter((node) => node !== connection.getServer())
  // The client might choose the same node again, which accepts it.
  if (others.length > 0) connection.setServers(others)
  // Rejects only if the connection has been closed meanwhile.
  await connection.reconnect().catch(() => undefined)
  connection.setServers(nodes)
}
