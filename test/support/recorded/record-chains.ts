/**
 * npm run record:engine: records again what the engine publishes for the stored chains, after a change that is meant to
 * change it. With `-- --new`, it first replaces the chains by random ones that meet every event, fact, change and error.
 */
import fc from 'fast-check'
import { ScriptCoverage } from '../arbitraries/script-coverage.ts'
import { type MarketScript, marketOf, marketScript, occurrences } from '../builders/market-script.ts'
import { type ChainInput, foldChain, readChains, writeChains } from './recorded-chains.ts'

/** The number of random chains to choose from. */
const CHOICE = 1_000
/** Recorded in any case: the first random chains, which are of all sizes. */
const FIRST = 24
const SEED = 15

const inputs = process.argv.includes('--new') ? newInputs() : readChains()
const chains = inputs.map(({ settings, story, tokens }) => {
  const { output } = foldChain({ settings, story, tokens })
  return { settings, story, tokens, output }
})
const readable = chains.filter(({ output }) => output.sets !== undefined).length
const messages = chains.reduce((total, { output }) => total + output.digests.length - 1, 0)
const bytes = writeChains(chains)
console.log(`${chains.length} chains (${readable} readable), ${messages} messages, ${bytes} bytes`)

function newInputs(): ChainInput[] {
  const coverage = new ScriptCoverage()
  const scripts = fc.sample(marketScript, { numRuns: CHOICE, seed: SEED })
  const chosen: ChainInput[] = []
  for (const [at, script] of scripts.entries()) {
    const missing = coverage.missing().length
    const input = inputOf(script, coverage)
    const isFirst = coverage.missing().length < missing
    if (at < FIRST || isFirst) chosen.push(input)
  }
  const missing = coverage.missing()
  if (missing.length > 0) throw new Error(`no chain has ${missing.join(', ')}`)
  return chosen
}

function inputOf(script: MarketScript, coverage: ScriptCoverage): ChainInput {
  const market = marketOf(script)
  const { registry: _, ...settings } = market.settings
  const story = occurrences(market, script)
  const input = { settings: { ...settings, deployments: market.deployments }, story, tokens: market.tokens }
  for (const occurrence of story) coverage.seeOccurrence(market, occurrence)
  const { output, sets } = foldChain(input)
  coverage.seeSets(sets, output.codes)
  return input
}
