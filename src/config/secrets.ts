import type { Config } from './schema.ts'

/** Path segments this long are API keys, not names. */
const KEY_LENGTH = 16

/** All values of a configuration that must never be logged. */
export function secretsOf({ nats, clickhouse, redis, chains }: Config): string[] {
  const urls = [
    ...nats.urls,
    clickhouse.url,
    redis.url,
    ...Object.values(chains).flatMap(({ rpc_urls, ws_urls = [] }) => [...rpc_urls, ...ws_urls]),
  ]
  const plain = [nats.password, nats.token, clickhouse.password].filter((value) => value !== undefined)
  return [...plain, ...urls.flatMap(secretsInUrl)]
}

function secretsInUrl(text: string): string[] {
  if (!URL.canParse(text)) return []
  const { username, password, pathname, searchParams } = new URL(text)
  const segments = pathname.split('/').filter((segment) => segment.length >= KEY_LENGTH)
  const encoded = [password, ...segments]
  // A user without a password is a token (NATS), or the key itself.
  if (password === '') encoded.push(username)
  return [...encoded, ...encoded.map(decoded), ...searchParams.values()].filter((value) => value !== '')
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
