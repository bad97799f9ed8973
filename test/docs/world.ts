import { freePorts } from '../../src/sandbox/servers/process.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { Scenario } from '../e2e/scenario.ts'
import { API_KEY, Pipeline } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'

const TRADED_BLOCKS = 40
/** The pages with commands of an installation of their own speak of Base. */
const BASE_ID = 8453

/** A market like those the pages speak of, small: read, priced, stored and served by processes. */
export type World = {
  readonly stack: Stack
  /** A node that says it is one of Base: everything but the chain's contracts. */
  readonly baseRpcUrl: string
  readonly pipeline: Pipeline
  readonly scenario: Scenario
  readonly url: string
  /** What the pages call $URL, $KEY and so on. */
  readonly variables: Readonly<Record<string, string>>
  stop(): Promise<void>
}

export async function startWorld(): Promise<World> {
  const [stack, base] = await Promise.all([
    startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] }),
    startStack({ services: ['anvil'], anvil: ['--chain-id', String(BASE_ID)] }),
  ])
  // A gateway that is started again has to be found where it was.
  const [port] = await freePorts(1)
  const pipeline = new Pipeline(stack, 'docs', { finality_depth: 5 }, { gateway: { port } })
  const stop = async (): Promise<void> => {
    await pipeline.stop()
    await Promise.all([stack.stop(), base.stop()])
  }
  try {
    const scenario = await Scenario.deploy(stack.rpcUrl)
    await pipeline.start('reader', 'engine', 'writer', 'gateway')
    for (let block = 0; block < TRADED_BLOCKS; block++) await scenario.tradeBlock()
    await everythingKnown(pipeline, scenario)
    const url = await pipeline.gatewayUrl()
    const variables = {
      ...{ URL: url, KEY: API_KEY, CHAIN: 'local', CLICKHOUSE: stack.clickhouseUrl, DATABASE: 'docs' },
      ...{ PAIR: `${scenario.tokenPair}-local`, TOKEN: `${scenario.token}-local` },
    }
    return { stack, baseRpcUrl: base.rpcUrl, pipeline, scenario, url, variables, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Holders and inspections come with the blocks after the first trades; ranks and search with the writer. */
async function everythingKnown(pipeline: Pipeline, { token, market }: Scenario): Promise<void> {
  await waitFor('the market to be known', async () => {
    const [contract, trending, found, top] = await Promise.all([
      pipeline.get(`/v2/contracts/${token}-local`),
      pipeline.get('/v2/tokens/trending?chain=local'),
      pipeline.get('/v2/tokens?keyword=PEP'),
      pipeline.get(`/v2/tokens/top100/${token}-local`),
    ])
    const isInspected = 'risk_score' in (contract.body as object)
    const { tokens = [] } = trending.body as { tokens?: object[] }
    const rows = [tokens, found.body, top.body].map((list) => (Array.isArray(list) ? list.length : 0))
    const { market_cap } = (Array.isArray(found.body) ? found.body[0] : {}) as { market_cap?: string }
    if (isInspected && market_cap !== undefined && rows.every((count) => count > 0)) return true
    await market.mine()
    return undefined
  })
}
