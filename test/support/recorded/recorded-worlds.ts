import type { DexDeployment } from '../../../src/dex/protocol.ts'
import { DexRegistry } from '../../../src/dex/registry.ts'
import { pow10, VALUE_DIGITS } from '../../../src/domain/money.ts'
import type { EngineSettings } from '../../../src/engine/settings.ts'
import { engineSettings } from '../../../src/engine/settings.ts'
import { chainSettings } from '../../../src/roles/chain-settings.ts'
import type { RecordedBlock } from './recorded-transactions.ts'
import { shippedChains } from './shipped-chains.ts'

export type World = { readonly settings: EngineSettings; readonly deployments: readonly DexDeployment[] }

const NAMES: Readonly<Record<number, string>> = {
  1: 'eth',
  10: 'optimism',
  25: 'cronos',
  137: 'polygon',
  8453: 'base',
  42161: 'arbitrum',
}
/** We ship no file for Cronos: its largest exchange, and the two coins that most of its pools have. */
const CRONOS: World = (() => {
  const deployments = [
    { amm: 'vvs', protocol: 'uniswap_v2', factory: '0x3b44b2a187a7b3824131f8db5a74194d0a42fc15' },
  ]
  const quoteAssets = [
    { address: '0xc21223249ca28397b4b6541dffaecc539bff0c59', kind: 'stable' },
    { address: '0x5c7f8a570d578ed84e63fdfa7b1ee72deae1ae23', kind: 'native' },
  ] as const
  const minDepthUsd = 1_000n * pow10(VALUE_DIGITS)
  const settings = {
    chain: 'cronos',
    registry: new DexRegistry(deployments),
    quoteAssets,
    minDepthUsd,
    lockers: new Set<string>(),
  }
  return { settings, deployments }
})()
/** How a recorded block's chain is followed. */
export function worldOf({ chainId }: RecordedBlock): World {
  const name = NAMES[chainId] ?? ''
  const config = name === 'cronos' ? undefined : shippedChains([name])[name]
  if (config?.family !== 'evm') return CRONOS
  const deployments = config.dexes.map(({ amm, protocol, factory, init_code_hash, deployer }) => {
    return { amm, protocol, factory, initCodeHash: init_code_hash, deployer }
  })
  return { settings: engineSettings(name, chainSettings(config)), deployments }
}
