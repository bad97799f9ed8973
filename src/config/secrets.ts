import type { Config } from './schema.ts'

/** Path segments this long are API keys, not names. */
const KEY_LENGTH = 16

/** All values of a configuration that must never be logged. */
export function secretsOf({ nats, clickhouse, redis, chains }: Config): string[] {
  const urls = [
    ...nats.urls,
    clickhouse.url,
    redis.url,
    ...Object.values(chains).flatMap((chain) => {
      const streams = chain.family === 'evm' ? chain.ws_urls : chain.grpc_urls
      return [...chain.rpc_urls, ...(streams ?? [])]
    }),
  ]
  const tokens = Object.values(chains).map((chain) =>
    chain.family === 'solana' ? chain.grpc_token : undefined,
  )
  const plain = [
    ...[nats.password, nats.token, clickhouse.password, ...tokens].filter((value) => value !== undefined),
    basicAuth(clickhouse.username, clickhouse.password),
  ]
  return [...plain, ...urls.flatMap(secretsInUrl)]
}

function secretsInUrl(text: string): string[] {
  const url = text.includes('://') ? text : `any://${text}`
  if (!URL.canParse(url)) return secretsInText(text)
  const { username, password, pathname, search, searchParams } = new URL(url)
  const encoded = [
    password,
    ...pathname.split('/').filter((segment) => segment.length >= KEY_LENGTH),
    ...search.split(/[?&=]/).filter((part) => !searchParams.has(part)),
  ]
  // A user without a password is a token (NATS), or the key itself; so is a long one.
  if (password === '' || username.length >= KEY_LENGTH) encoded.push(username)
  const pair = basicAuth(decoded(username), decoded(password))
  return [...encoded, ...encoded.map(decoded), ...searchParams.values(), pair].filter((value) => value !== '')
}

/** A URL that cannot be parsed is quoted in the errors of libraries. */
function secretsInText(text: string): string[] {
  const userInfo = /:\/\/(.*)@/.exec(text)?.[1] ?? ''
  return [text, userInfo, userInfo.slice(userInfo.indexOf(':') + 1)]
}

/** As credentials stand in the header `Authorization`. */
function basicAuth(username: string, password: string): string {
  return password === '' ? '' : Buffer.from(`${username}:${password}`).toString('base64')
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
