import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Abi, Hex } from 'viem'

export type Artifact = { readonly abi: Abi; readonly bytecode: Hex }

const require = createRequire(import.meta.url)

/** The bytecode that runs on mainnet, as its authors publish it. */
export const uniswapV2Factory = published('@uniswap/v2-core/build/UniswapV2Factory.json')
export const uniswapV2Pair = published('@uniswap/v2-core/build/UniswapV2Pair.json')
export const uniswapV2Router = published('@uniswap/v2-periphery/build/UniswapV2Router02.json')
export const weth9 = published('@uniswap/v2-periphery/build/WETH9.json')

function published(path: string): Artifact {
  const { abi, bytecode } = require(path) as { abi: Abi; bytecode: string }
  return { abi, bytecode: bytecode.startsWith('0x') ? (bytecode as Hex) : `0x${bytecode}` }
}

type SolcOutput = {
  errors?: { severity: string; formattedMessage: string }[]
  contracts: Record<string, Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>>
}

/** Compiles a contract of this folder: `<name>.sol`, holding a contract of the same name. */
export function compile(name: string): Artifact {
  const solc = require('solc') as { compile(input: string): string }
  const file = `${name}.sol`
  const content = readFileSync(fileURLToPath(new URL(file, import.meta.url)), 'utf8')
  const input = {
    language: 'Solidity',
    sources: { [file]: { content } },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      evmVersion: 'paris',
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as SolcOutput
  const errors = output.errors?.filter(({ severity }) => severity === 'error') ?? []
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'))
  const contract = output.contracts[file]?.[name]
  if (contract === undefined) throw new Error(`${file} holds no contract ${name}`)
  return { abi: contract.abi, bytecode: `0x${contract.evm.bytecode.object}` }
}
