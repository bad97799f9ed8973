import { readFileSync } from 'node:fs'
import { Redis, ReplyError } from 'ioredis'
import { ChaintapeError } from '../../domain/errors.ts'
import { type CertificateFiles, readCertificates } from '../../lib/certificates.ts'
import type { Common } from '../../lib/common.ts'
import { createWaiting, redisServer } from '../../lib/waiting.ts'

const CONNECT_TIMEOUT_MS = 5_000
/** For commands that no client waits for. */
const COMMAND_TIMEOUT_MS = 5_000
/** A server that hangs, or whose machine is gone, does not close the connection, so we close it and reconnect. */
const SILENCE_MS = 6_000
const MAX_RECONNECT_DELAY_MS = 1_000

/** Transient errors: the server is starting, failing over or full. */
const PASSING = new Set([
  'BUSY',
  'CLUSTERDOWN',
  // For a transaction: one of its commands failed with one of these.
  'EXECABORT',
  'LOADING',
  'MASTERDOWN',
  'NOREPLICAS',
  'OOM',
  'READONLY',
  'TRYAGAIN',
])

/** Also matches inside the client's own errors: "Ready check failed: NOAUTH Authentication required." */
const UNAUTHORIZED = /\b(WRONGPASS|NOAUTH)\b/

export type RedisOptions = CertificateFiles & {
  readonly url: string
  /** Timeout of a command. */
  readonly commandTimeoutMs?: number
}

type Argument = string | number | Buffer | Uint8Array

/** The Lua scripts in this folder; the first argument is the number of keys. */
export type ScriptedRedis = Redis & {
  applyDocumentsBuffer(...args: Argument[]): Promise<(number | Buffer)[]>
  packCandles(...args: Argument[]): Promise<number>
  advanceHead(...args: Argument[]): Promise<number>
}

/** Reconnects automatically; without a connection, commands fail immediately instead of queueing. */
export async function connectRedis(
  { url, commandTimeoutMs = COMMAND_TIMEOUT_MS, ...files }: RedisOptions,
  common: Common,
): Promise<ScriptedRedis> {
  const logger = common.logger.child({ action: 'redis' })
  const tls = readCertificates(files)
  const redis = new Redis(url, {
    ...(tls && { tls }),
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 1,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: commandTimeoutMs,
    socketTimeout: SILENCE_MS,
    connectionName: 'chaintape',
    retryStrategy: (times) => Math.min(MAX_RECONNECT_DELAY_MS, 50 * 2 ** (times - 1)),
    // A demoted primary: reconnecting resolves the name of the new one.
    reconnectOnError: (error) => firstWord(error) === 'READONLY',
  })
  const server = redisServer(url)
  const waiting = createWaiting(logger, server)
  let wasConnected = false
  let isRefused = false
  redis.on('ready', () => {
    wasConnected = true
    waiting.succeeded()
  })
  // The first connection attempt fails to the caller, which reports it.
  redis.on('error', (error) => {
    if (wasConnected) waiting.failed(error)
    else isRefused ||= UNAUTHORIZED.test(error.message)
  })
  redis.defineCommand('applyDocuments', { lua: readScript('apply.lua') })
  redis.defineCommand('packCandles', { lua: readScript('pack.lua') })
  redis.defineCommand('advanceHead', { lua: readScript('advance.lua') })
  try {
    await guardRedis(() => redis.connect())
  } catch (error) {
    redis.disconnect()
    if (!isRefused) throw error
    // Retrying does not fix credentials.
    throw new ChaintapeError(
      'server_unauthorized',
      `Redis at ${server.address} refused the user and password in redis.url`,
    )
  }
  return redis as ScriptedRedis
}

/** Runs a command and maps errors of an unavailable server to `store_unavailable`. */
export async function guardRedis<T>(command: () => Promise<T>): Promise<T> {
  try {
    return await command()
  } catch (error) {
    if (!isPassing(error)) throw error
    throw new ChaintapeError('store_unavailable', 'Redis unavailable', { cause: error })
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof ChaintapeError || !(error instanceof Error)) return false
  if (error instanceof ReplyError) return PASSING.has(firstWord(error))
  // Any other error comes from the connection, unless it is a bug of ours.
  return !(error instanceof TypeError || error instanceof RangeError)
}

/** A Redis error starts with its kind. */
function firstWord(error: Error): string {
  return error.message.split(' ', 1)[0] ?? ''
}

function readScript(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8')
}
