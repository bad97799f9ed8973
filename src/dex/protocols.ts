import { algebra } from './evm/algebra/protocol.ts'
import { balancerV2 } from './evm/balancer-v2/protocol.ts'
import { balancerV3 } from './evm/balancer-v3/protocol.ts'
import { clanker } from './evm/clanker/protocol.ts'
import { curve } from './evm/curve/protocol.ts'
import { flap } from './evm/flap/protocol.ts'
import { fourMeme, fourMemeV1 } from './evm/four-meme/protocol.ts'
import { infinityBin, infinityCl } from './evm/pancakeswap-infinity/protocol.ts'
import { pancakeswapV3 } from './evm/pancakeswap-v3/protocol.ts'
import { slipstream } from './evm/slipstream/protocol.ts'
import { solidly } from './evm/solidly/protocol.ts'
import { traderJoeLb } from './evm/trader-joe-lb/protocol.ts'
import { uniswapV2 } from './evm/uniswap-v2/protocol.ts'
import { uniswapV3 } from './evm/uniswap-v3/protocol.ts'
import { uniswapV4 } from './evm/uniswap-v4/protocol.ts'
import { virtuals, virtualsLaunchpad } from './evm/virtuals/protocol.ts'
import { zora } from './evm/zora/protocol.ts'
import type { Protocol } from './protocol.ts'
import { SOLANA_PROTOCOLS } from './solana/protocols.ts'

/** Keyed by their names in the configuration. */
export const EVM_PROTOCOLS: Readonly<Record<string, Protocol>> = {
  uniswap_v2: uniswapV2,
  uniswap_v3: uniswapV3,
  uniswap_v4: uniswapV4,
  pancakeswap_v3: pancakeswapV3,
  pancakeswap_infinity_cl: infinityCl,
  pancakeswap_infinity_bin: infinityBin,
  solidly,
  slipstream,
  algebra,
  curve,
  balancer_v2: balancerV2,
  balancer_v3: balancerV3,
  trader_joe_lb: traderJoeLb,
  four_meme: fourMeme,
  four_meme_v1: fourMemeV1,
  flap,
  virtuals,
  virtuals_launchpad: virtualsLaunchpad,
  clanker,
  zora,
}

export const PROTOCOLS: Readonly<Record<string, Protocol>> = { ...EVM_PROTOCOLS, ...SOLANA_PROTOCOLS }
