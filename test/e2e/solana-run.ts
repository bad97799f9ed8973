import assert from 'node:assert/strict'
import { createClient } from '@clickhouse/client'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { WRAPPED_SOL } from '../support/builders/solana-accounts.ts'
import { SOLANA_DEPLOYMENTS } from '../support/recorded/solana-programs.ts'
import { Pipeline, type RoleName } from '../support/rigs/pipeline.ts'
import { GENESIS_HASH } from '../support/rigs/solana-ledger.ts'
import { DOLLAR, type SolanaMarket } from '../support/rigs/solana-market.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { YellowstoneServer } from '../support/rigs/yellowstone-server.ts'
import type { Row } from './expected-rows.ts'
import { ExpectedSolana } from './expected-solana.ts'
import { SolanaScenario } from './solana-scenario.ts'

/** A machine under load needs its time for four processes. */
export const PATIENCE_MS = 120_000

export const ROLES: readonly RoleName[] = ['reader', 'engine', 'writer', 'gateway']

/** Names of launch platforms are the first part of their tags. */
const AMMS: Readonly<Record<string, string>> = { pump_fun: 'pump', raydium_launchlab: 'launchlab' }
/** Deep enough for every fork of the test. */
export const FINAL_BELOW_HEAD = 40

/** The scenario, the pipeline that reads it, and what it must have come to. */
export class SolanaRun {
  readonly scenario: SolanaScenario
  readonly stack: Stack
  readonly pipeline: Pipeline
  readonly stream: YellowstoneServer

  private constructor(
    scenario: SolanaScenario,
    stack: Stack,
    url: string,
    stream: YellowstoneServer,
    streamUrl: string,
  ) {
    this.scenario = scenario
    this.stream = stream
    this.stack = stack
    const { natsUrls, redisUrl, clickhouseUrl } = stack
    const services = { natsUrls, redisUrl, clickhouseUrl, rpcUrl: url }
    this.pipeline = new Pipeline(services, 'solana', {}, { chains: { solana: chainAt(url, streamUrl) } })
  }

  static async start(): Promise<SolanaRun> {
    const scenario = new SolanaScenario()
    const url = await scenario.market.ledger.listen()
    const stream = new YellowstoneServer(scenario.market.ledger)
    const streamUrl = await stream.listen()
    const stack = await startStack({ services: ['nats', 'redis', 'clickhouse'] })
    return new SolanaRun(scenario, stack, url, stream, streamUrl)
  }

  get market(): SolanaMarket {
    return this.scenario.market
  }

  expected(): ExpectedSolana {
    return new ExpectedSolana(this.market, ammOf)
  }

  /** The gateway and both stores have the newest block. */
  async caughtUp(): Promise<void> {
    const { tip } = this.market
    await this.pipeline.reaches(`/v2/tokens/${DOLLAR}-solana`, tip, PATIENCE_MS)
    const client = createClient({ url: this.stack.clickhouseUrl, database: this.pipeline.name })
    const query = 'SELECT hash FROM markers ORDER BY seq DESC LIMIT 1'
    try {
      await waitFor(
        'the writer',
        async () => {
          const [marker] = await (await client.query({ query, format: 'JSONEachRow' })).json<{
            hash: string
          }>()
          return marker?.hash === tip.hash ? true : undefined
        },
        PATIENCE_MS,
      )
    } finally {
      await client.close()
    }
  }

  async get<T = Row>(path: string): Promise<T> {
    const { status, body } = await this.pipeline.get(path)
    assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`)
    return body as T
  }

  async stop(): Promise<void> {
    this.stream.kill()
    this.market.ledger.close()
    await this.pipeline.stop()
    await this.stack.stop()
  }
}

/** The stablecoin is ours, and so is the cluster; the programs are those of the shipped settings and of devnet. */
export function chainAt(url: string, streamUrl?: string): object {
  return {
    ...{ genesis_hash: GENESIS_HASH, rpc_urls: [url], poll_ms: 20 },
    ...(streamUrl !== undefined && { grpc_urls: [streamUrl] }),
    quote_assets: [
      { address: DOLLAR, kind: 'stable' },
      { address: WRAPPED_SOL, kind: 'native' },
    ],
    dexes: SOLANA_DEPLOYMENTS.map(({ protocol, factory }) => ({ amm: ammOf(protocol), protocol, factory })),
  }
}

/** By a program's id or a protocol's name. */
function ammOf(program: string): string {
  const found = SOLANA_DEPLOYMENTS.find((each) => each.factory === program || each.protocol === program)
  return AMMS[found?.protocol ?? ''] ?? found?.protocol ?? ''
}
