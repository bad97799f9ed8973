import type { RawLog } from '../domain/envelope.ts'
import type { DexEvent } from './events.ts'
import { decodeUniswapV2, PAIR_CREATED, SWAP, SYNC } from './evm/uniswap-v2/decode.ts'

export type Protocol = 'uniswap_v2'

/** One exchange on one chain: whose pools count, what to call it, who decodes it. */
export type DexDeployment = { readonly amm: string; readonly protocol: Protocol; readonly factory: string }

type Decoder = {
  readonly decode: (log: RawLog) => DexEvent | undefined
  /** Emitted by the factory. */
  readonly factoryTopics: readonly string[]
  /** Emitted by its pools. */
  readonly poolTopics: readonly string[]
}

const DECODERS: Record<Protocol, Decoder> = {
  uniswap_v2: { decode: decodeUniswapV2, factoryTopics: [PAIR_CREATED], poolTopics: [SYNC, SWAP] },
}

/**
 * Which contracts and events matter on a chain. A pool is recognised by its factory, never by the events it
 * emits: anyone can emit a Swap.
 */
export class DexRegistry {
  readonly #byFactory: ReadonlyMap<string, DexDeployment>
  readonly #byAmm: ReadonlyMap<string, DexDeployment>
  readonly #poolTopics: ReadonlySet<string>

  constructor(deployments: readonly DexDeployment[]) {
    this.#byFactory = new Map(deployments.map((deployment) => [deployment.factory, deployment]))
    this.#byAmm = new Map(deployments.map((deployment) => [deployment.amm, deployment]))
    this.#poolTopics = new Set(deployments.flatMap(({ protocol }) => DECODERS[protocol].poolTopics))
  }

  deploymentOf(factory: string): DexDeployment | undefined {
    return this.#byFactory.get(factory)
  }

  /** Might this log come from a pool? Only its factory can tell for sure. */
  looksLikePool(log: RawLog): boolean {
    const topic = log.topics[0]
    return topic !== undefined && this.#poolTopics.has(topic)
  }

  /** The pool this log announces, if an allow-listed factory emitted it. */
  decodeFactoryLog(log: RawLog): (DexEvent & { type: 'poolCreated' }) | undefined {
    const deployment = this.#byFactory.get(log.address)
    if (deployment === undefined) return undefined
    const event = DECODERS[deployment.protocol].decode(log)
    return event?.type === 'poolCreated' ? event : undefined
  }

  /** What a log of a pool of this exchange says. */
  decodePoolLog(amm: string, log: RawLog): DexEvent | undefined {
    const deployment = this.#byAmm.get(amm)
    return deployment === undefined ? undefined : DECODERS[deployment.protocol].decode(log)
  }
}
