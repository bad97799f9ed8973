import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from 'viem'
import { createKeyStore } from '../../src/gateway/access/keys/key-store.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { Scenario } from '../e2e/scenario.ts'
import { TEST_PLANS, withLogs } from '../support/builders/test-key.ts'
import { Pipeline } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { OURS } from './record.ts'
import { CONTRACT_FIELDS } from './token-records.ts'

/** Enough that the interface's default limits of 100 cut something off. */
const BEANS = 105
const TRADED_BLOCKS = 90

export const SMALL_QUOTA = 12

const PLANS = {
  ...TEST_PLANS,
  // Two requests of 5 CU, and not a third.
  small: { ...TEST_PLANS.default, cu_per_month: SMALL_QUOTA },
  slow: { ...TEST_PLANS.default, requests_per_second: 1, burst: 2 },
  flood: {
    ...TEST_PLANS.default,
    sockets: { connections: 1_000, messages_per_second: 1_000_000, message_bytes: 131_072 },
  },
  // Two connections, and not a third.
  narrow: { ...TEST_PLANS.default, sockets: { connections: 2 } },
}

/** What the tests ask about, and with which keys. */
export type Names = {
  /** Traded all the time, so that everything there is to know of it is known. */
  readonly token: Hex
  readonly pair: Hex
  readonly stable: Hex
  readonly native: Hex
  /** Has a pool, but was never traded. */
  readonly idle: Hex
  readonly idlePair: Hex
  /** Its pool holds less than a thousand dollars. */
  readonly tiny: Hex
  /** Many tokens whose symbols begin with BEAN; each was traded once. */
  readonly beans: readonly Hex[]
}

export type KeyName = 'good' | 'expired' | 'revoked' | 'small' | 'slow' | 'flood' | 'narrow'

export type World = {
  readonly names: Names
  readonly keys: Readonly<Record<KeyName, string>>
  readonly pipeline: Pipeline
  readonly scenario: Scenario
  readonly url: string
  /** The newest block. */
  readonly head: { readonly number: number; readonly time: number }
  stop(): Promise<void>
}

/** A real market on a node, read, priced, stored and served by processes; at the end nothing moves any more. */
export async function startWorld({ beans = BEANS } = {}): Promise<World> {
  const stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
  try {
    return await openWorld(stack, beans)
  } catch (error) {
    await stack.stop()
    throw error
  }
}

async function openWorld(stack: Stack, beans: number): Promise<World> {
  const { scenario, names } = await makeMarket(stack.rpcUrl, beans)
  const list = join(stack.dataDir, 'token-list.json')
  writeFileSync(list, JSON.stringify(tokenList(names)))
  const pipeline = new Pipeline(
    stack,
    'contract',
    { finality_depth: 5, lockers: [`0x${'10'.repeat(20)}`] },
    {
      plans: PLANS,
      gateway: { port: 0, public_urls: ['https://one.example', 'https://two.example'], token_lists: [list] },
    },
  )
  const stop = async (): Promise<void> => {
    await pipeline.stop()
    await stack.stop()
  }
  try {
    await pipeline.start('reader', 'engine', 'writer', 'gateway')
    const keys = await makeKeys({ urls: stack.natsUrls, prefix: 'contract' })
    await knowTokens(pipeline, scenario, names)
    const head = await scenario.market.head()
    await caughtUp(pipeline, head.number, names, beans)
    return { names, keys, pipeline, scenario, head, url: await pipeline.gatewayUrl(), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function makeMarket(rpcUrl: string, beanCount: number): Promise<{ scenario: Scenario; names: Names }> {
  const scenario = await Scenario.deploy(rpcUrl)
  const { market, token, stable } = scenario
  for (let block = 0; block < TRADED_BLOCKS; block++) await scenario.tradeBlock()
  const idle = await market.createToken({ name: 'Idle', symbol: 'IDLE', decimals: 18, supply: 10n ** 24n })
  await market.addLiquidityNative(idle, 10n ** 22n, 10n ** 18n)
  const tiny = await market.createToken({ name: 'Tiny', symbol: 'TINY', decimals: 18, supply: 10n ** 24n })
  await market.addLiquidityNative(tiny, 10n ** 22n, 10n ** 17n)
  const beans: Hex[] = []
  for (let index = 0; index < beanCount; index++) {
    const number = String(index).padStart(3, '0')
    const spec = { name: `Bean ${number}`, symbol: `BEAN${number}`, decimals: 18, supply: 10n ** 24n }
    const bean = await market.createToken(spec)
    await market.addLiquidityNative(bean, 10n ** 22n, 10n ** 18n + BigInt((index * 7_919) % 997) * 10n ** 15n)
    await market.buyWithNative(bean, 10n ** 15n + BigInt((index * 104_729) % 991) * 10n ** 13n)
    beans.push(bean)
  }
  await market.mine()
  // What was created last settles when the next blocks end.
  for (let block = 0; block < 3; block++) {
    await market.buyWithNative(token, 10n ** 15n)
    await market.sellForNative(token, 10n ** 9n)
    await market.mine()
  }
  const idlePair = (await market.pairOf(idle, market.weth)).toLowerCase() as Hex
  return {
    scenario,
    names: { token, stable, idle, idlePair, tiny, beans, native: market.weth, pair: scenario.tokenPair },
  }
}

/** Every token has a picture; the one that is traded all the time is audited. */
function tokenList({ token, stable, native, idle, tiny, beans }: Names): object {
  const entries = [token, stable, native, idle, tiny, ...beans].map((address) => ({
    ...{ chainId: 31_337, address, logoURI: `https://pictures.example/${address}.png` },
    tags: address === token ? ['audited'] : [],
  }))
  return { name: 'Test', tokens: entries }
}

async function makeKeys(nats: { urls: readonly string[]; prefix: string }): Promise<World['keys']> {
  return withLogs(nats, async (logs) => {
    const store = createKeyStore(await logs.openLatest('KEYS'), Date.now)
    const create = async (name: string, plan: string, expiresAt?: number) =>
      store.create({ name, plan, expiresAt })
    const revoked = await create('revoked', 'default')
    await store.revoke(revoked.record.id)
    return {
      good: (await create('good', 'default')).apiKey,
      expired: (await create('expired', 'default', 1)).apiKey,
      revoked: revoked.apiKey,
      small: (await create('small', 'small')).apiKey,
      slow: (await create('slow', 'slow')).apiKey,
      flood: (await create('flood', 'flood')).apiKey,
      narrow: (await create('narrow', 'narrow')).apiKey,
    }
  })
}

const ALWAYS_IN_CONTRACT = CONTRACT_FIELDS.flatMap(([name, , presence]) => (presence === OURS ? [name] : []))

type KnownRow = { risk_score?: number; market_cap?: string; tx_volume_u_24h?: string }

/** Histories, holders and inspections of tokens come with the blocks after them. */
async function knowTokens(pipeline: Pipeline, { market }: Scenario, { token, beans }: Names): Promise<void> {
  await waitFor('all of one token to be known, and the volume of some', async () => {
    const [asked, found, contract] = await Promise.all([
      pipeline.get(`/v2/tokens?keyword=${token}&chain=local`),
      pipeline.get('/v2/tokens?keyword=BEAN'),
      pipeline.get(`/v2/contracts/${token}-local`),
    ])
    const [row] = asked.body as KnownRow[]
    // Creator and holders come later than the report itself.
    const report = contract.body as { token_holders_rank?: object[] }
    const isReported = ALWAYS_IN_CONTRACT.every((name) => Object.hasOwn(report, name))
    const isKnown =
      isReported &&
      report.token_holders_rank?.length &&
      row?.risk_score !== undefined &&
      row.market_cap !== undefined
    const volumes = (found.body as KnownRow[]).filter((each) => each.tx_volume_u_24h !== undefined)
    if (isKnown && volumes.length >= Math.min(10, beans.length)) return true
    await market.mine()
    await sleep(200)
    return undefined
  })
}

/** Ranks and search come from the stores, so the writer has to be there too. */
async function caughtUp(pipeline: Pipeline, head: number, { pair }: Names, beans: number): Promise<void> {
  await waitFor(`the gateway to reach block ${head}`, async () => {
    const { headers } = await pipeline.get(`/v2/pairs/${pair}-local`)
    return headers.get('X-Block') === String(head) ? true : undefined
  })
  await waitFor('every token to be ranked and found', async () => {
    const [trending, found, main] = await Promise.all([
      pipeline.get('/v2/tokens/trending?chain=local&page_size=1'),
      pipeline.get('/v2/tokens?keyword=BEAN&limit=300'),
      pipeline.get('/v2/tokens/main?chain=local'),
    ])
    const { total } = trending.body as { total: number }
    const rows = found.body as object[]
    // Windows are known once the first transfers are.
    const isKnown = (main.body as object[]).every((row) => 'tx_volume_u_24h' in row)
    return total > beans && rows.length === beans && isKnown ? true : undefined
  })
}
