import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { Stack } from '../../src/sandbox/servers/stack.ts'
import { CHAIN, DEPLOYMENTS } from '../support/arbitraries/market-arbitraries.ts'
import { world } from '../support/builders/example-market.ts'
import { RoleProcess } from '../support/rigs/pipeline.ts'
import { askAdmin } from './ask-admin.ts'

export type LeadershipLine = {
  readonly msg: string
  readonly reason?: string
  readonly time: number
  readonly waited_ms?: number
}

/** One of several engines of the same chain: a process with a state of its own. */
export class StandbyEngine {
  readonly name: string
  readonly configFile: string
  readonly stateDir: string
  readonly #logFile: string
  #process: RoleProcess | undefined
  #isAway = false

  constructor(stack: Stack, name: string, prefix: string) {
    this.name = name
    const dir = join(stack.dataDir, name)
    mkdirSync(dir, { recursive: true })
    this.configFile = join(dir, 'chaintape.yaml')
    this.stateDir = join(dir, 'engine', CHAIN)
    this.#logFile = join(dir, 'engine.log')
    writeFileSync(
      this.configFile,
      stringify({
        data_dir: dir,
        nats: { urls: stack.natsUrls, prefix },
        admin: { engine_port: 0 },
        chains: {
          [CHAIN]: {
            family: 'evm',
            chain_id: 1,
            rpc_urls: ['http://127.0.0.1:1'],
            quote_assets: world.quoteAssets,
            dexes: DEPLOYMENTS,
          },
        },
      }),
    )
  }

  spawn(): void {
    this.#process = new RoleProcess('engine', this.configFile, this.#logFile)
  }

  async ready(): Promise<void> {
    await this.#running.ready()
  }

  get exitCode(): number | null {
    return this.#running.exitCode
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    if (this.#running.exitCode === null) await this.#running.kill(signal)
  }

  /** Stands still in the middle of whatever it does, and knows nothing of it. */
  freeze(): void {
    this.#isAway = true
    process.kill(this.#running.pid ?? 0, 'SIGSTOP')
  }

  /** Until it has noticed that it was replaced, its metrics still call it the leader. */
  resume(): void {
    process.kill(this.#running.pid ?? 0, 'SIGCONT')
  }

  rejoin(): void {
    this.#isAway = false
  }

  /** 'leads' or 'follows' as its metric says; undefined while it is away or starting. */
  async part(): Promise<'leads' | 'follows' | undefined> {
    if (this.#isAway || this.#running.exitCode !== null) return undefined
    const { admin_port } = await this.#running.logged('Admin server listening')
    // No connection while it is busy or ending. An engine that ended by itself fails the storm: see `exitCode`.
    const ready = await askAdmin(admin_port, '/readyz').catch(() => undefined)
    if (ready?.status !== 200) return undefined
    const leads = await this.#metric('chaintape_engine_leads')
    return leads === undefined ? undefined : leads === 1 ? 'leads' : 'follows'
  }

  /** The sequence in BLOCKS of the last message that it has folded. */
  async folded(): Promise<number> {
    return (await this.#metric('chaintape_engine_blocks_seq').catch(() => undefined)) ?? 0
  }

  async #metric(name: string): Promise<number | undefined> {
    const { admin_port } = await this.#running.logged('Admin server listening')
    const metrics = await (await askAdmin(admin_port, '/metrics')).text()
    const [, value] = new RegExp(`^${name}\\{.*\\} (\\d+)$`, 'm').exec(metrics) ?? []
    return value === undefined ? undefined : Number(value)
  }

  /** Every change of leadership that it logged, over all its lives. */
  leadership(): LeadershipLine[] {
    const lines = readFileSync(this.#logFile, 'utf8').split('\n')
    return lines
      .filter((line) => line.includes('"Engine is leader"') || line.includes('"Engine is standby"'))
      .map((line) => JSON.parse(line) as LeadershipLine)
  }

  timesReplaced(): number {
    return this.leadership().filter(({ msg, reason }) => msg === 'Engine is standby' && reason === 'replaced')
      .length
  }

  get #running(): RoleProcess {
    if (this.#process === undefined) throw new Error(`${this.name} was not started`)
    return this.#process
  }
}
