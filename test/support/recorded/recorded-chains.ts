import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import type { DexDeployment } from '../../../src/dex/protocol.ts'
import { DexRegistry } from '../../../src/dex/registry.ts'
import type { ChangeSet } from '../../../src/domain/change.ts'
import type { ErrorCode } from '../../../src/domain/errors.ts'
import type { EngineSettings } from '../../../src/engine/settings.ts'
import type { Occurrence } from '../builders/market-script.ts'
import { InterruptedFold } from '../rigs/interrupted-fold.ts'

/**
 * Chains of random markets, with all messages and interruptions, and what the engine made of them. The inputs are
 * stored, not generated, so that a new protocol or another version of fast-check does not change them.
 */
const FILE = join(import.meta.dirname, 'engine-chains.br')

export type ChainInput = {
  readonly settings: Omit<EngineSettings, 'registry'> & { readonly deployments: readonly DexDeployment[] }
  readonly story: readonly Occurrence[]
  /** Their prices are explained at the end. */
  readonly tokens: readonly string[]
}

export type ChainOutput = {
  /** One for each message of CHANGES, and one for the explanations. */
  readonly digests: readonly string[]
  readonly codes: readonly ErrorCode[]
  /** The decoded messages of a small chain, so that a difference can be read. */
  readonly sets: readonly ChangeSet[] | undefined
}

export type RecordedChain = ChainInput & { readonly output: ChainOutput }

const MAX_READABLE_BYTES = 16_000

export function foldChain({ settings: { deployments, ...settings }, story, tokens }: ChainInput): {
  readonly output: ChainOutput
  readonly sets: readonly ChangeSet[]
} {
  const fold = new InterruptedFold({ ...settings, registry: new DexRegistry(deployments) })
  for (const occurrence of story) fold.meet(occurrence)
  const explanations = textOf(tokens.map((token) => fold.explain(token)))
  const { messages, sets, codes } = fold
  const isSmall = messages.reduce((total, { length }) => total + length, 0) <= MAX_READABLE_BYTES
  const digests = [...messages, explanations].map(digestOf)
  return { output: { digests, codes, sets: isSmall ? sets : undefined }, sets }
}

export function readChains(): RecordedChain[] {
  return deserialize(brotliDecompressSync(readFileSync(FILE)))
}

/** Returns the size of the file. */
export function writeChains(chains: readonly RecordedChain[]): number {
  const bytes = brotliCompressSync(serialize(chains))
  writeFileSync(FILE, bytes)
  return bytes.length
}

function digestOf(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16)
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}n` : each))
}
