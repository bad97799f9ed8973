import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { MAIN_ARGS } from '../../dev/main-args.ts'
import { Scenario } from '../e2e/scenario.ts'
import { API_KEY_ID } from '../support/builders/test-key.ts'
import type { Pipeline } from '../support/rigs/pipeline.ts'

/** A market that trades while an installation is looked after. */
export class Drill {
  readonly scenario: Scenario
  #trading: Promise<void> | undefined
  #isTrading = false

  private constructor(scenario: Scenario) {
    this.scenario = scenario
  }

  static async deploy(rpcUrl: string): Promise<Drill> {
    return new Drill(await Scenario.deploy(rpcUrl))
  }

  get paths(): string[] {
    const { stablePair, tokenPair, token } = this.scenario
    return [...[stablePair, tokenPair].map((pair) => `/v2/pairs/${pair}-local`), `/v2/tokens/${token}-local`]
  }

  async trade(blocks: number): Promise<void> {
    for (let block = 0; block < blocks; block++) await this.scenario.tradeBlock()
  }

  /** Trades, and asks the gateway, until `stopLoad`. */
  startLoad(pipeline: Pipeline): void {
    this.#isTrading = true
    this.#trading = (async () => {
      while (this.#isTrading) {
        await this.scenario.tradeBlock()
        for (const path of this.paths) await pipeline.get(path)
      }
    })()
  }

  async stopLoad(): Promise<void> {
    this.#isTrading = false
    await this.#trading
  }

  /** Waits until a gateway serves the chain's head. */
  async caughtUp(pipeline: Pipeline): Promise<void> {
    await pipeline.reaches(this.paths[0] ?? '', await this.scenario.market.head(), 200_000)
  }

  /** What clients see. */
  async answers(pipeline: Pipeline): Promise<unknown[]> {
    const bodies: unknown[] = []
    for (const path of this.paths) {
      const { status, body } = await pipeline.get(path)
      assert.equal(status, 200, path)
      bodies.push(body)
    }
    return bodies
  }
}

/** Runs a command that must succeed. */
export async function runCommand(pipeline: Pipeline, ...command: string[]): Promise<string> {
  const { code, output } = await pipeline.run(...command)
  assert.equal(code, 0, `chaintape ${command.join(' ')}: ${output}`)
  return output
}

/** Kills a command with the first line that matches. */
export async function killAt(pipeline: Pipeline, line: RegExp, ...command: string[]): Promise<void> {
  const preload = ['--import', new URL('./die-at.ts', import.meta.url).href]
  const args = [...preload, ...MAIN_ARGS, ...command, '--config', pipeline.configFile]
  const env = { ...process.env, DIE_AT: line.source }
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'], env })
  const [output] = await Promise.all([text(child.stderr), once(child, 'exit')])
  assert.equal(child.signalCode, 'SIGKILL', `not killed at ${line}: ${output}`)
}

export type Usage = { readonly requests: number; readonly cu: number }

/** What the test key used this month, over all gateways. */
export async function usageOf(pipeline: Pipeline): Promise<Usage> {
  const output = await runCommand(pipeline, 'keys', 'show-usage', API_KEY_ID)
  const [, requests, cu] = /^total\s+(\d+)\s+(\d+)$/m.exec(output) ?? []
  return { requests: Number(requests), cu: Number(cu) }
}
