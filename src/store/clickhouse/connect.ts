import { Agent } from 'node:https'
import { rootCertificates } from 'node:tls'
import {
  type ClickHouseClient,
  type ClickHouseClientConfigOptions,
  ClickHouseLogLevel,
  createClient,
} from '@clickhouse/client'
import { type CertificateFiles, readCertificates } from '../../lib/certificates.ts'

export type ClickhouseOptions = CertificateFiles & {
  readonly url: string
  readonly database: string
  readonly username: string
  readonly password: string
  /** Name of the cluster, if there are several servers. */
  readonly cluster?: string | undefined
}

const REQUEST_TIMEOUT_MS = 30_000
const MAX_CONNECTIONS = 10
// Servers close idle connections after 3 s or more, so the client has to close them first.
const IDLE_SOCKET_MS = 2_000

/** `database` is a separate parameter, because ours does not exist before the first migration. */
export function connectClickhouse(
  options: ClickhouseOptions,
  database = options.database,
  timeoutMs = REQUEST_TIMEOUT_MS,
): ClickHouseClient {
  return createClient({
    url: options.url,
    ...tlsOf(options),
    username: options.username,
    password: options.password,
    database,
    application: 'chaintape',
    request_timeout: timeoutMs,
    max_open_connections: MAX_CONNECTIONS,
    keep_alive: { enabled: true, idle_socket_ttl: IDLE_SOCKET_MS },
    // Every failure reaches the caller, which logs it with its own fields.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: {
      // JSON numbers would lose digits.
      output_format_json_quote_64bit_integers: 1,
      output_format_json_quote_decimals: 1,
    },
  })
}

/** The client's own TLS setting makes a certificate replace the password; ClickHouse refuses requests with both. */
function tlsOf(options: ClickhouseOptions): Pick<ClickHouseClientConfigOptions, 'tls' | 'http_agent'> {
  const read = readCertificates(options)
  if (read === undefined) return {}
  const { ca, cert, key } = read
  if (cert && key && options.password === '') {
    return { tls: { ca_cert: ca ?? Buffer.from(rootCertificates.join('\n')), cert, key } }
  }
  return { http_agent: new Agent({ ...read, keepAlive: true, maxSockets: MAX_CONNECTIONS }) }
}
