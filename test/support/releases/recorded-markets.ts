import type { DexDeployment } from '../../../src/dex/protocol.ts'
import { DexRegistry } from '../../../src/dex/registry.ts'
import type { BlockEnvelope, Envelope } from '../../../src/domain/envelope.ts'
import type { EngineSettings } from '../../../src/engine/settings.ts'
import { runMarket } from '../../bytes/market-run.ts'
import { SolanaScenario } from '../../e2e/solana-scenario.ts'
import { DEPLOYMENTS, settingsOf } from '../arbitraries/market-arbitraries.ts'
import { world } from '../builders/example-market.ts'
import { memoryStore } from '../rigs/engine-run.ts'
import { SOLANA_ENGINE_DEPLOYMENTS, SolanaEngine, solanaSettings } from '../rigs/solana-engine.ts'

/** As data, so that a later change of the test's own markets does not change what is recorded. */
export type RecordedSettings = Omit<EngineSettings, 'registry' | 'lockers'> & {
  readonly deployments: readonly DexDeployment[]
  readonly lockers: readonly string[]
}

/** A market of one chain, and how many of its messages are folded into the recorded state. */
export type RecordedMarket = {
  readonly family: 'evm' | 'solana'
  readonly settings: RecordedSettings
  readonly envelopes: readonly Envelope[]
  readonly committed: number
}

const SOLANA_BLOCKS = 16

export function engineSettingsOf({ deployments, lockers, ...settings }: RecordedSettings): EngineSettings {
  return { ...settings, registry: new DexRegistry(deployments), lockers: new Set(lockers) }
}

export function recordedMarkets(): RecordedMarket[] {
  const evm = runMarket(memoryStore()).envelopes
  const solana = solanaEnvelopes()
  return [
    {
      ...{ family: 'evm', settings: dataOf(settingsOf(world), DEPLOYMENTS), envelopes: evm },
      committed: evm.length - 60,
    },
    {
      ...{ family: 'solana', settings: dataOf(solanaSettings, SOLANA_ENGINE_DEPLOYMENTS), envelopes: solana },
      committed: solana.length - 8,
    },
  ]
}

function dataOf(
  { registry: _, lockers, ...settings }: EngineSettings,
  deployments: readonly DexDeployment[],
): RecordedSettings {
  return { ...settings, deployments, lockers: [...lockers] }
}

/** A synthetic market, then a reorg of two blocks, and what is final. */
function solanaEnvelopes(): Envelope[] {
  const scenario = new SolanaScenario()
  scenario.open()
  scenario.trade(SOLANA_BLOCKS, 0)
  const { accounts } = scenario.market
  const engine = new SolanaEngine((mint) => {
    const own = accounts.snapshot().mints.get(mint)
    return own && { decimals: own.decimals, supplyRaw: own.supply }
  })
  const blocks: BlockEnvelope[] = []
  const { run } = engine
  const apply = run.apply.bind(run)
  run.apply = (envelope) => {
    blocks.push(envelope as BlockEnvelope)
    return apply(envelope)
  }
  for (const block of scenario.market.canonical()) engine.foldMarketBlock(block)
  const ref = (at: number) => {
    const { number, hash } = blocks.at(at) as BlockEnvelope
    return { number, hash }
  }
  const { chain } = blocks[0] as BlockEnvelope
  return [
    ...blocks,
    { kind: 'undo', chain, lastValid: ref(-3) },
    ...blocks.slice(-2),
    { kind: 'final', chain, upTo: ref(-5) },
  ]
}
