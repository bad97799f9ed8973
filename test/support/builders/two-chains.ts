import type { BlockEnvelope } from '../../../src/domain/envelope.ts'
import type { LogName } from '../../../src/log/connect.ts'
import type { Stack } from '../../../src/sandbox/servers/stack.ts'
import { encodeEnvelope } from '../../../src/wire/envelope-codec.ts'
import { buildBlock, DEPLOYMENTS } from '../arbitraries/market-arbitraries.ts'
import { Pipeline, type RoleName } from '../rigs/pipeline.ts'
import { waitFor } from '../rigs/wait-for.ts'
import { ETH_POOL, eth, swap, sync, usd, world } from './example-market.ts'
import { withLogs } from './test-key.ts'

export const PAIR = world.pools[ETH_POOL]?.address ?? ''

/** Longer than the delay before a faulty chain is retried, several times over. */
const WAIT_MS = 120_000

/** The same market on the chains `good` and `bad`, whose BLOCKS a test appends to by hand; roles are processes. */
export class TwoChains {
  readonly pipeline: Pipeline
  readonly #nats: { readonly urls: readonly string[]; readonly prefix: string }
  readonly #blocks = new Map<string, BlockEnvelope[]>()

  constructor(stack: Stack, name: string, settings: Record<string, unknown> = {}) {
    const chain = {
      family: 'evm',
      chain_id: 1,
      rpc_urls: ['http://127.0.0.1:1'],
      quote_assets: world.quoteAssets,
      dexes: DEPLOYMENTS,
    }
    this.#nats = { urls: stack.natsUrls, prefix: name }
    const servers = {
      natsUrls: stack.natsUrls,
      redisUrl: stack.redisUrl,
      clickhouseUrl: stack.clickhouseUrl,
      rpcUrl: '',
    }
    this.pipeline = new Pipeline(servers, name, {}, { ...settings, chains: { good: chain, bad: chain } })
  }

  nextBlock(chain: string): BlockEnvelope {
    const before = this.#blocks.get(chain) ?? []
    this.#blocks.set(chain, before)
    const reserve = usd(1_000_000n + BigInt(before.length))
    const actions = [sync(ETH_POOL, reserve, eth(500n)), swap(ETH_POOL, usd(2_000n), 0n, 0n, eth(1n))]
    const block = { ...buildBlock(world, before, { do: 'block', seconds: 1, actions }, 0), chain }
    before.push(block)
    return block
  }

  /** Appends blocks to BLOCKS; gives the number of the last one. */
  async mine(chain: string, count = 1): Promise<number> {
    let last = 0
    await this.append('BLOCKS', chain, () =>
      Array.from({ length: count }, () => {
        const block = this.nextBlock(chain)
        last = block.number
        return encodeEnvelope(block)
      }),
    )
    return last
  }

  /** Appends messages as they are; gives the sequence of the last one. */
  async append(log: LogName, chain: string, messages: () => readonly Uint8Array[]): Promise<number> {
    return withLogs(this.#nats, async (logs) => {
      const publisher = await (await logs.open(log, chain)).openPublisher()
      await Promise.all(messages().map((message) => publisher.publish(message)))
      return publisher.last.sequence
    })
  }

  async readiness(role: RoleName): Promise<{ status: number; text: string }> {
    return this.admin(role, '/readyz')
  }

  async admin(role: RoleName, path: string): Promise<{ status: number; text: string }> {
    const { admin_port } = await this.pipeline.role(role).logged('Admin server listening')
    const answer = await fetch(`http://127.0.0.1:${admin_port}${path}`)
    return { status: answer.status, text: await answer.text() }
  }

  /** Until `/readyz` of the role says so. */
  async reported(role: RoleName, pattern: RegExp): Promise<string> {
    const report = async (): Promise<string | undefined> => {
      const { text } = await this.readiness(role)
      return pattern.test(text) ? text : undefined
    }
    return waitFor(`${role} to report ${pattern}`, report, WAIT_MS)
  }

  /** Until the gateway answers with this block. */
  async served(chain: string, block: number): Promise<void> {
    const isServed = async (): Promise<true | undefined> => {
      const { status, headers } = await this.pipeline.get(`/v2/pairs/${PAIR}-${chain}`)
      return status === 200 && headers.get('X-Block') === String(block) ? true : undefined
    }
    await waitFor(`block ${block} of ${chain}`, isServed, WAIT_MS)
  }

  async stop(): Promise<void> {
    await this.pipeline.stop('SIGKILL')
  }
}
