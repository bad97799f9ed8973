import type { Stack } from '../../src/sandbox/servers/stack.ts'
import { StallingProxy } from '../support/rigs/stalling-proxy.ts'

export const SERVERS = ['nats', 'redis', 'clickhouse', 'node'] as const
export type Server = (typeof SERVERS)[number]
type Urls = Pick<Stack, 'natsUrls' | 'redisUrl' | 'clickhouseUrl' | 'rpcUrl'>

/** All connections of one role to servers: each goes through a proxy of its own, and can be cut or stalled. */
export class RoleLinks {
  readonly #proxies: Readonly<Record<Server, readonly StallingProxy[]>>

  private constructor(proxies: Readonly<Record<Server, readonly StallingProxy[]>>) {
    this.#proxies = proxies
  }

  static async open({ natsUrls, redisUrl, clickhouseUrl, rpcUrl }: Urls): Promise<RoleLinks> {
    const open = (urls: readonly string[]): Promise<StallingProxy[]> =>
      Promise.all(urls.map((url) => StallingProxy.start(url)))
    return new RoleLinks({
      nats: await open(natsUrls),
      redis: await open([redisUrl]),
      clickhouse: await open([clickhouseUrl]),
      node: await open([rpcUrl]),
    })
  }

  get urls(): Urls {
    const { nats, redis, clickhouse, node } = this.#proxies
    const [redisUrl = ''] = redis.map(({ port }) => `redis://127.0.0.1:${port}`)
    const [clickhouseUrl = '', rpcUrl = ''] = [...clickhouse, ...node].map(
      ({ port }) => `http://127.0.0.1:${port}`,
    )
    return {
      ...{ natsUrls: nats.map(({ port }) => `nats://127.0.0.1:${port}`), redisUrl, clickhouseUrl, rpcUrl },
    }
  }

  /** Reset: connections break, and new ones are refused. Stalled: they stay open, and nothing passes. */
  cut(server: Server, how: 'reset' | 'stalled'): void {
    for (const proxy of this.#proxies[server]) {
      if (how === 'reset') proxy.cut()
      else proxy.stall()
    }
  }

  restore(server: Server): void {
    for (const proxy of this.#proxies[server]) proxy.resume()
  }

  async close(): Promise<void> {
    await Promise.all(
      Object.values(this.#proxies)
        .flat()
        .map((proxy) => proxy.stop()),
    )
  }
}
