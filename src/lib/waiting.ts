import type { Logger } from './logger.ts'
import { type RetryOptions, retry } from './retry.ts'

/** An unavailable server: its address and a hint for the operator. */
export type AwaitedServer = {
  readonly server: string
  /** Hosts only: URLs may contain passwords. */
  readonly address: string
  readonly hint: string
}

export type Waiting = {
  failed(error: unknown): void
  succeeded(): void
}

const REPEAT_MS = 60_000

/** Reports an unavailable server in one line, immediately and then at most once a minute, and its recovery. */
export function createWaiting(
  logger: Logger,
  about: AwaitedServer,
  now: () => number = () => performance.now(),
): Waiting {
  let quietUntilMs: number | undefined
  return {
    failed: (error) => {
      if (quietUntilMs !== undefined && now() < quietUntilMs) return
      quietUntilMs = now() + REPEAT_MS
      logger.warn({ ...about, reason: reasonOf(error) }, `Waiting for ${about.server}`)
    },
    succeeded: () => {
      if (quietUntilMs === undefined) return
      quietUntilMs = undefined
      logger.info({ server: about.server, address: about.address }, `${about.server} is available`)
    },
  }
}

/** Retries until the server answers, and reports the wait. */
export async function retryUntilAvailable<T>(
  work: () => Promise<T>,
  waiting: Waiting,
  options: Omit<RetryOptions, 'onRetry'>,
): Promise<T> {
  const result = await retry(work, { ...options, onRetry: (error) => waiting.failed(error) })
  waiting.succeeded()
  return result
}

export function natsServer(urls: readonly string[]): AwaitedServer {
  const hint = 'start it with "nats-server --jetstream", or set nats.urls'
  return { server: 'NATS', address: hostsOf(urls), hint }
}

export function redisServer(url: string): AwaitedServer {
  return { server: 'Redis', address: hostsOf([url]), hint: 'start it with "redis-server", or set redis.url' }
}

export function clickhouseServer(url: string): AwaitedServer {
  const hint = 'start it with "clickhouse server", or set clickhouse.url'
  return { server: 'ClickHouse', address: hostsOf([url]), hint }
}

/** For operations on which either store may be the unavailable one. */
export function stores(redisUrl: string, clickhouseUrl: string): AwaitedServer {
  const hint = 'check that Redis and ClickHouse are running'
  return { server: 'a store', address: hostsOf([redisUrl, clickhouseUrl]), hint }
}

export function chainNode(chain: string, urls: readonly string[]): AwaitedServer {
  const hint = `check that the node answers JSON-RPC, or set chains.${chain}.rpc_urls`
  return { server: `a node of ${chain}`, address: hostsOf(urls), hint }
}

function hostsOf(urls: readonly string[]): string {
  return urls
    .map((url) => (url.includes('://') ? url : `any://${url}`))
    .map((url) => (URL.canParse(url) ? new URL(url).host : 'not a URL'))
    .join(', ')
}

/** The innermost cause, because wrappers only report that something failed. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : reasonOf(error.cause)
}
