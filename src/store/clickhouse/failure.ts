import { ClickHouseError } from '@clickhouse/client'
import { ChaintapeError, QueryTimeout } from '../../domain/errors.ts'

/** Transient errors: the server is overloaded, restarting, out of space, or without its keeper or its tables. */
const PASSING = new Set([
  'ABORTED',
  'ALL_CONNECTION_TRIES_FAILED',
  'CANNOT_ALLOCATE_MEMORY',
  'CANNOT_SCHEDULE_TASK',
  'KEEPER_EXCEPTION',
  'MEMORY_LIMIT_EXCEEDED',
  'NETWORK_ERROR',
  'NOT_ENOUGH_SPACE',
  'NO_ZOOKEEPER',
  'SERVER_OVERLOADED',
  'SOCKET_TIMEOUT',
  'TABLE_IS_READ_ONLY',
  'TIMEOUT_EXCEEDED',
  'TOO_FEW_LIVE_REPLICAS',
  'TOO_MANY_PARTS',
  'TOO_MANY_SIMULTANEOUS_QUERIES',
  'UNKNOWN_STATUS_OF_INSERT',
])

/** A full disk is reported under many codes, depending on the file that could not be written. */
const FULL_DISK = /no space left on device/i

/** The server lost its disk, or was never written to. */
const WITHOUT_TABLES = new Set(['UNKNOWN_DATABASE', 'UNKNOWN_TABLE'])

/** Permanent errors: retrying does not fix credentials. */
const UNAUTHORIZED = new Set([
  'ACCESS_DENIED',
  'AUTHENTICATION_FAILED',
  'REQUIRED_PASSWORD',
  'WRONG_PASSWORD',
])

/** Runs a request and maps errors of an unavailable server to `store_unavailable`. */
export async function guardClickhouse<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request()
  } catch (error) {
    if (error instanceof ClickHouseError && UNAUTHORIZED.has(error.type ?? '')) {
      throw new ChaintapeError(
        'server_unauthorized',
        `ClickHouse refused the user in clickhouse.username and clickhouse.password: ${error.message}`,
      )
    }
    if (!isPassing(error)) throw error
    if (error instanceof ClickHouseError && error.type === 'TIMEOUT_EXCEEDED') {
      throw new QueryTimeout('ClickHouse ended a query that took too long', { cause: error })
    }
    const message = isWithoutTables(error)
      ? 'ClickHouse has lost its tables, or has none yet'
      : 'ClickHouse unavailable'
    throw new ChaintapeError('store_unavailable', message, { cause: error })
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof ClickHouseError)
    return PASSING.has(error.type ?? '') || isWithoutTables(error) || FULL_DISK.test(error.message)
  if (error instanceof ChaintapeError || !(error instanceof Error)) return false
  // Any other error comes from the connection or a proxy, unless it is a bug of ours.
  return !(error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError)
}

function isWithoutTables(error: unknown): boolean {
  return error instanceof ClickHouseError && WITHOUT_TABLES.has(error.type ?? '')
}
