import assert from 'node:assert/strict'
import { create2Address, keccakOfPacked } from '../../../src/dex/evm/create2.ts'
import type { DexDeployment } from '../../../src/dex/protocol.ts'
import type {
  BlockEnvelope,
  PoolFact,
  Pricing,
  RawLog,
  RawTransaction,
} from '../../../src/domain/envelope.ts'
import { words } from '../builders/abi-words.ts'
import { knownToken } from './known-tokens.ts'
import { derivedTokens, type RecordedBlock, receiptsText, transactionsOf } from './recorded-transactions.ts'

type Header = RecordedBlock & {
  readonly hash: string
  readonly parentHash: string
  readonly timestamp: number | string
}

const V2_SWAP = '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822'
const V3_SWAP = '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67'
const PANCAKE_SWAP = '0x19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83'
const V2_SYNC = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1'
const SOLIDLY_SYNC = '0xcf2aa50876cdfbb541206f89af0ee78d44a2abf8d328e37fa4917f982149848a'
/** By the topic of a pool's trades, and how it reports its price. */
const PROTOCOL_OF: Readonly<Record<string, readonly [string, Pricing]>> = {
  [V2_SWAP]: ['uniswap_v2', { kind: 'reserves' }],
  [V3_SWAP]: ['uniswap_v3', { kind: 'sqrtPrice' }],
  [PANCAKE_SWAP]: ['pancakeswap_v3', { kind: 'sqrtPrice' }],
}
const FEES = [100n, 400n, 500n, 2_500n, 3_000n, 10_000n]

/**
 * A recorded block as a reader publishes it, and before it a generated one: it has the facts of pools whose tokens could
 * be derived from the recordings, and the block's own logs that report reserves. So there are prices of that time before
 * the first trade: prices of pools count for others from the next block on.
 */
export class RecordedEnvelopes {
  readonly #deployments: readonly DexDeployment[]
  readonly #tokens = derivedTokens()

  constructor(deployments: readonly DexDeployment[]) {
    this.#deployments = deployments
  }

  of(chain: string, block: RecordedBlock): { before: BlockEnvelope; recorded: BlockEnvelope } {
    const { hash, parentHash, number, chainId, timestamp } = block as Header
    const time = typeof timestamp === 'number' ? timestamp : Date.parse(timestamp) / 1_000
    const transactions = rawTransactions(block)
    const pools = this.#poolsIn(
      transactions.flatMap(({ logs }) => logs),
      chainId,
    )
    const tokens = [...new Set(pools.flatMap((pool) => pool.tokens))].map(knownToken)
    const syncs = transactions.map((transaction) => {
      return { ...transaction, logs: transaction.logs.filter(({ topics }) => isSync(topics[0])) }
    })
    const recorded: BlockEnvelope = {
      ...{ kind: 'block', chain, number, hash, parentHash, time, transactions, facts: [] },
    }
    const grandparent = `0x${'0'.repeat(64)}`
    const links = { number: number - 1, hash: parentHash, parentHash: grandparent }
    return { before: { ...recorded, ...links, transactions: syncs, facts: [...pools, ...tokens] }, recorded }
  }

  /** Trades of pools we know the tokens of, counted by their topics alone. */
  swapsIn({ transactions }: BlockEnvelope, chainId: number): number {
    const logs = transactions.flatMap((transaction) => transaction.logs)
    return logs.filter(({ address, topics: [topic = ''] }) => {
      return topic in PROTOCOL_OF && this.#tokens.has(`${chainId} ${address}`)
    }).length
  }

  #poolsIn(logs: readonly RawLog[], chainId: number): PoolFact[] {
    const pools = new Map<string, PoolFact>()
    for (const { address, topics } of logs) {
      const [protocol, pricing] = PROTOCOL_OF[topics[0] ?? ''] ?? []
      const tokens = this.#tokens.get(`${chainId} ${address}`)
      if (protocol === undefined || pricing === undefined || tokens === undefined) continue
      const isSolidly = logs.some((log) => log.address === address && log.topics[0] === SOLIDLY_SYNC)
      const factory = this.#factoryOf(address, tokens, isSolidly ? 'solidly' : protocol)
      pools.set(address, { type: 'pool', address, factory, tokens, pricing, reservesBefore: undefined })
    }
    return [...pools.values()]
  }

  /** Its own factory where its address proves it; otherwise the first one of the same protocol. */
  #factoryOf(pool: string, [token0, token1]: readonly [string, string], protocol: string): string {
    const same = this.#deployments.filter((deployment) => deployment.protocol === protocol)
    const salts =
      protocol === 'uniswap_v2'
        ? [keccakOfPacked(token0, token1)]
        : FEES.map((fee) => keccakOfPacked(words(token0, token1, fee)))
    const own = same.find(
      (deployment) =>
        deployment.initCodeHash !== undefined &&
        salts.some((salt) => create2Address(deployment, salt) === pool),
    )
    const factory = (own ?? same[0])?.factory
    assert.ok(factory !== undefined, `no exchange of protocol ${protocol} for pool ${pool}`)
    return factory
  }
}

function rawTransactions(block: RecordedBlock): RawTransaction[] {
  const receipts = JSON.parse(receiptsText(block)) as { transactionIndex: string; from: string }[]
  return transactionsOf(block).map(({ hash, logs }, at) => {
    const { transactionIndex, from } = receipts[at] as (typeof receipts)[number]
    return { index: Number(transactionIndex), hash, from: from.toLowerCase(), logs }
  })
}

function isSync(topic: string | undefined): boolean {
  return topic === V2_SYNC || topic === SOLIDLY_SYNC
}
