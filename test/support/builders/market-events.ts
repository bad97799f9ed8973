import type { QuoteAsset } from '../../../src/domain/chain-settings.ts'
import type { BlockEnvelope, PoolFact, TokenFact } from '../../../src/domain/envelope.ts'
import type { OrderKey } from '../../../src/domain/order-key.ts'
import { DEPLOYMENTS, type Market } from '../arbitraries/market-arbitraries.ts'

export type Seen = {
  readonly key: OrderKey
  readonly time: number
  readonly pool: string
  readonly transaction: string
  readonly wallet: string
}
export type SyncSeen = Seen & { readonly reserves: readonly [bigint, bigint] }
export type SwapSeen = Seen & {
  readonly sender: string
  readonly recipient: string
  readonly in: readonly [bigint, bigint]
  readonly out: readonly [bigint, bigint]
}
export type ProvisionSeen = Seen & {
  readonly kind: 'addLiquidity' | 'removeLiquidity' | 'createPair'
  readonly provider: string
  readonly amounts: readonly [bigint, bigint]
}
type Met<T> = T & { readonly time: number; readonly block: number }
export type MetPool = Met<PoolFact> & { readonly token0: string; readonly token1: string }

const SYNC = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1'
const SWAP = '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822'
const MINT = '0x4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f'
const BURN = '0xdccd412f0b1252819cb1fd330b93224ca42612892bb3f4f789976e6d81936496'
const PAIR_CREATED = '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9'

/** All events of one chain, in block order. */
export class MarketEvents {
  readonly market: Market
  readonly pools: MetPool[] = []
  readonly tokens: Met<TokenFact>[] = []
  readonly syncs: SyncSeen[] = []
  readonly swaps: SwapSeen[] = []
  readonly provisions: ProvisionSeen[] = []
  /** Every event of a pool, but for its creation. */
  readonly events: Seen[] = []
  readonly creations: { pool: string; time: number; key: OrderKey }[] = []
  readonly blocks: { readonly number: number; readonly time: number }[] = []
  readonly chain: readonly BlockEnvelope[]

  constructor(market: Market, chain: readonly BlockEnvelope[]) {
    this.market = market
    this.chain = chain
    for (const { number, time, facts, transactions } of chain) {
      this.blocks.push({ number, time })
      for (const fact of facts) {
        if (fact.type === 'token') this.tokens.push({ ...fact, time, block: number })
        if (fact.type === 'pool' && ammOf(fact.factory) !== undefined) {
          const [token0 = '', token1 = ''] = fact.tokens
          this.pools.push({ ...fact, token0, token1, time, block: number })
        }
      }
      for (const { index: tx, hash: transaction, from: wallet, logs } of transactions) {
        for (const log of logs) {
          const [topic, topic1 = '', topic2 = ''] = log.topics
          const data = Buffer.from(log.data).toString('hex')
          const word = (at: number): bigint => BigInt(`0x${data.slice(at * 64, at * 64 + 64)}`)
          const seen = {
            key: { block: number, tx, log: log.index },
            time,
            pool: log.address,
            transaction,
            wallet,
          }
          const isPool = this.pools.some(({ address }) => address === log.address)
          const length = { [SYNC]: 128, [SWAP]: 256, [MINT]: 128, [BURN]: 128 }[topic ?? '']
          if (isPool && length !== undefined && data.length >= length) this.events.push(seen)
          if (isPool && topic === SYNC && data.length >= 128)
            this.syncs.push({ ...seen, reserves: [word(0), word(1)] })
          if (isPool && topic === SWAP && data.length >= 256) {
            const [sender, recipient] = [`0x${topic1.slice(26)}`, `0x${topic2.slice(26)}`]
            const swap = { in: [word(0), word(1)], out: [word(2), word(3)] } as Pick<SwapSeen, 'in' | 'out'>
            this.swaps.push({ ...seen, sender, recipient, ...swap })
          }
          if (isPool && (topic === MINT || topic === BURN) && word(0) + word(1) > 0n) {
            const kind = topic === MINT ? 'addLiquidity' : 'removeLiquidity'
            const provider = `0x${topic1.slice(26)}`
            this.provisions.push({ ...seen, kind, provider, amounts: [word(0), word(1)] })
          }
          if (ammOf(log.address) !== undefined && topic === PAIR_CREATED) {
            const pool = `0x${data.slice(24, 64)}`
            this.creations.push({ pool, time, key: seen.key })
            if (this.pools.some(({ address }) => address === pool))
              this.provisions.push({ ...seen, pool, kind: 'createPair', provider: '', amounts: [0n, 0n] })
          }
        }
      }
    }
  }

  poolFact(address: string): MetPool {
    const fact = this.pools.find((known) => known.address === address)
    if (fact === undefined) throw new Error(`${address} was never met`)
    return fact
  }

  tokenFact(address: string | undefined): Met<TokenFact> | undefined {
    return this.tokens.find((known) => known.address === address)
  }

  kindOf(token: string | undefined): QuoteAsset['kind'] | undefined {
    return this.market.quoteAssets.find(({ address }) => address === token)?.kind
  }

  /** The side that is no quote asset; of two quote assets the later one of the list; of none, none. */
  rankedTarget({ token0, token1 }: { token0: string; token1: string }): string | undefined {
    const ranking = this.market.quoteAssets.map(({ address }) => address)
    const [rank0, rank1] = [ranking.indexOf(token0), ranking.indexOf(token1)]
    if (rank0 === -1 && rank1 === -1) return undefined
    if (rank0 === -1 || rank1 === -1) return rank0 === -1 ? token0 : token1
    return rank0 > rank1 ? token0 : token1
  }
}

export function ammOf(factory: string): string | undefined {
  return DEPLOYMENTS.find((deployment) => deployment.factory === factory)?.amm
}
