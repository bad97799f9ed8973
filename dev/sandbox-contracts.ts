/**
 * node dev/sandbox-contracts.ts: writes the creation code of the sandbox's contracts, which the package ships: its users
 * have neither the compiler nor Uniswap's packages.
 */
import { writeFileSync } from 'node:fs'
import type { Hex } from 'viem'
import { compile, uniswapV2Factory, uniswapV2Router, weth9 } from './market/artifacts.ts'
import { positionManager, swapRouter, uniswapV3Factory } from './market/uniswap-v3.ts'
import { liquidityCaller, poolManager, swapCaller } from './market/uniswap-v4.ts'

const FILE = new URL('../src/sandbox/chain/contracts.json', import.meta.url)
const TOKEN = new URL('../src/sandbox/chain/SandboxToken.sol', import.meta.url)
const LAUNCHPADS = new URL('../test/e2e/TestLaunchpads.sol', import.meta.url)

export function sandboxContracts(): Record<string, Hex> {
  return {
    weth: weth9.bytecode,
    v2Factory: uniswapV2Factory.bytecode,
    v2Router: uniswapV2Router.bytecode,
    v3Factory: uniswapV3Factory.bytecode,
    v3Positions: positionManager.bytecode,
    v3Router: swapRouter.bytecode,
    v4Manager: poolManager.bytecode,
    v4Swapper: swapCaller.bytecode,
    v4Provider: liquidityCaller.bytecode,
    launchpad: compile('TestTokenManager2', LAUNCHPADS, { withoutMetadata: true }).bytecode,
    token: compile('SandboxToken', TOKEN, { withoutMetadata: true }).bytecode,
  }
}

if (import.meta.main) writeFileSync(FILE, `${JSON.stringify(sandboxContracts(), null, 2)}\n`)
