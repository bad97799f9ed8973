import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Abi, Hex } from 'viem'

export type Artifact = { readonly abi: Abi; readonly bytecode: Hex }

const require = createRequire(import.meta.url)

/** The bytecode that runs on mainnet, as its authors publish it. */
export const uniswapV2Factory = published('@uniswap/v2-core/build/UniswapV2Factory.json')
export const uniswapV2Pair = published('@uniswap/v2-core/build/UniswapV2Pair.json')
export const uniswapV2Router = published('@uniswap/v2-periphery/build/UniswapV2Router02.json')
export const weth9 = published('@uniswap/v2-periphery/build/WETH9.json')

/** An artifact out of an npm package, as the package's build tool wrote it. */
export function published(path: string): Artifact {
  const { abi, bytecode } = require(path) as { abi: Abi; bytecode: string | { object: string } }
  const code = typeof bytecode === 'string' ? bytecode : bytecode.object
  return { abi, bytecode: code.startsWith('0x') ? (code as Hex) : `0x${code}` }
}

type CompiledContract = {
  abi: Abi
  evm: { bytecode: { object: string }; deployedBytecode: { object: string } }
}

type SolcOutput = {
  errors?: { severity: string; formattedMessage: string }[]
  contracts: Record<string, Record<string, CompiledContract>>
}

type Solc = {
  compile(input: string, callbacks: { import(path: string): { contents: string } }): string
}

export type CompileOptions = { readonly evmVersion?: string; readonly withoutMetadata?: boolean }

/** All contracts of a file, and of those it imports from its folder, are compiled at once. */
const compiled = new Map<string, SolcOutput>()

/** Compiles a contract; by default the one of `<name>.sol` in this folder. */
export function compile(
  name: string,
  source: URL = new URL(`${name}.sol`, import.meta.url),
  { evmVersion = 'paris', withoutMetadata = false }: CompileOptions = {},
): Artifact & { readonly runtime: Hex } {
  const solc = require('solc') as Solc
  const file = basename(fileURLToPath(source))
  const input = {
    language: 'Solidity',
    sources: { [file]: { content: readFileSync(source, 'utf8') } },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      evmVersion,
      ...(withoutMetadata && { metadata: { appendCBOR: false, bytecodeHash: 'none' } }),
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
    },
  }
  const readImport = (path: string) => ({ contents: readFileSync(new URL(path, source), 'utf8') })
  const question = JSON.stringify(input)
  const output =
    compiled.get(question) ?? (JSON.parse(solc.compile(question, { import: readImport })) as SolcOutput)
  compiled.set(question, output)
  const errors = output.errors?.filter(({ severity }) => severity === 'error') ?? []
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'))
  const contract = output.contracts[file]?.[name]
  if (contract === undefined) throw new Error(`${file} holds no contract ${name}`)
  const { bytecode, deployedBytecode } = contract.evm
  return {
    abi: contract.abi,
    bytecode: `0x${bytecode.object}`,
    runtime: `0x${deployedBytecode.object}`,
  }
}
