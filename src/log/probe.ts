import { jetstreamManager } from '@nats-io/jetstream'
import { type AccessOptions, accessOptions, connectOrRefuse } from './access.ts'

/** What a server says of itself. */
export type NatsProbe = {
  readonly version: string
  readonly isCluster: boolean
  readonly maxPayload: number
  /** Undefined if it cannot be asked: JetStream is off, or the user may not. */
  readonly storedBytes: number | undefined
}

const TIMEOUT_MS = 5_000

/** Connects once, without retrying. */
export async function probeNats(options: AccessOptions): Promise<NatsProbe> {
  const connection = await connectOrRefuse(options.urls, {
    ...accessOptions(options),
    servers: [...options.urls],
    maxReconnectAttempts: 0,
    timeout: TIMEOUT_MS,
  })
  try {
    const { version = '', cluster, max_payload: maxPayload = 0 } = connection.info ?? {}
    const storedBytes = await jetstreamManager(connection)
      .then((manager) => manager.getAccountInfo())
      .then(({ storage }) => storage)
      .catch(() => undefined)
    return { version, isCluster: cluster !== undefined, maxPayload, storedBytes }
  } finally {
    await connection.close()
  }
}
