import type { ChainConfig, Config } from '../../config/schema.ts'
import { PROTOCOLS } from '../../dex/protocols.ts'
import type { ListedChain } from '../../gateway/market/token-lists/parse-token-list.ts'
import type { RestContext } from '../../gateway/rest/context.ts'

const SOLANA_MAINNET = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'
/** The chain id of Solana's mainnet in token lists; the chain itself has none. */
const SOLANA_LIST_ID = 101

/** What REST needs of the configured chains. */
export function servedChains({
  chains,
}: Config): Pick<RestContext, 'chains' | 'mainTokensOf' | 'nativeDecimalsOf' | 'hasLockers'> {
  return {
    chains: Object.entries(chains).map(([chain, { family, dexes }]) => {
      const rows: readonly { readonly amm: string; readonly protocol: string }[] = dexes
      const platforms = rows.filter(({ protocol }) => PROTOCOLS[protocol]?.isLaunchPlatform)
      const namesOf = (all: typeof rows) => [...new Set(all.map(({ amm }) => amm))]
      return { chain, family, amms: namesOf(rows), platforms: namesOf(platforms) }
    }),
    nativeDecimalsOf: (chain) => chains[chain]?.native.decimals ?? 18,
    hasLockers: (chain) => (chains[chain]?.lockers.length ?? 0) > 0,
    mainTokensOf: (chain) => (chains[chain]?.quote_assets ?? []).map(({ address }) => address),
  }
}

/** The chains whose tokens can be in token lists. */
export function listedChains({ chains }: Config): ListedChain[] {
  return Object.entries(chains).flatMap(([chain, config]) => {
    const chainId = listId(config)
    return chainId === undefined ? [] : [{ chain, family: config.family, chainId }]
  })
}

function listId(config: ChainConfig): number | undefined {
  if (config.family === 'evm') return config.chain_id
  return config.genesis_hash === SOLANA_MAINNET ? SOLANA_LIST_ID : undefined
}
