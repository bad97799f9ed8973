import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client'

export type ClickhouseOptions = {
  readonly url: string
  readonly database: string
  readonly username: string
  readonly password: string
  /** Where there are several servers: what they call themselves. */
  readonly cluster?: string | undefined
}

const REQUEST_TIMEOUT_MS = 30_000
const MAX_CONNECTIONS = 10
// Servers close an idle connection after 3 s (older ones) or more: the client has to be first.
const IDLE_SOCKET_MS = 2_000

/** `database` may be given apart, as before the first migration there is none of ours to name. */
export function connectClickhouse(options: ClickhouseOptions, database = options.database): ClickHouseClient {
  return createClient({
    url: options.url,
    username: options.username,
    password: options.password,
    database,
    application: 'chaintape',
    request_timeout: REQUEST_TIMEOUT_MS,
    max_open_connections: MAX_CONNECTIONS,
    keep_alive: { enabled: true, idle_socket_ttl: IDLE_SOCKET_MS },
    // Every failure reaches the caller, who logs it with its own fields.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: {
      // A JSON number would lose digits.
      output_format_json_quote_64bit_integers: 1,
      output_format_json_quote_decimals: 1,
    },
  })
}
