import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { knowTokens } from '../e2e/know-tokens.ts'
import { Scenario } from '../e2e/scenario.ts'
import { Pipeline, type RoleName, RoleProcess } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { Load } from './load.ts'
import { type Operation, operationsOf } from './operations.ts'
import { Truth } from './truth.ts'

export const ROLES: readonly RoleName[] = ['reader', 'engine', 'writer', 'gateway']
/** Few, so that some questions for candles have to go to ClickHouse. */
export const RECENT_CANDLES = 10

const BLOCK_MS = 700
const WARM_UP_BLOCKS = 25
/** When a `final` is read depends on the clock, and it takes a sequence: so there is none. */
const CHAIN = { finality_depth: 1_000_000, poll_ms: 50 }
const PATIENCE_MS = 180_000

/** One market, read twice: by roles whose servers are disturbed, and by one process that has its own and is left alone. */
export class OutageWorld {
  readonly stack: Stack
  readonly calmStack: Stack
  readonly scenario: Scenario
  readonly stormy: Pipeline
  readonly calm: Pipeline
  readonly operations: readonly Operation[]
  readonly truth = new Truth()
  readonly gatewayUrl: string
  readonly load: Load
  /** What the questions of the test itself have cost. */
  paid = 0
  readonly #stop = new AbortController()
  #trading: Promise<void> | undefined

  private constructor(
    parts: Pick<OutageWorld, 'stack' | 'calmStack' | 'scenario' | 'stormy' | 'calm' | 'gatewayUrl'>,
  ) {
    this.stack = parts.stack
    this.calmStack = parts.calmStack
    this.scenario = parts.scenario
    this.stormy = parts.stormy
    this.calm = parts.calm
    this.gatewayUrl = parts.gatewayUrl
    this.operations = operationsOf(parts.scenario)
    this.load = new Load(parts.gatewayUrl, this.operations, this.truth)
  }

  static async start(): Promise<OutageWorld> {
    const services = ['nats', 'redis', 'clickhouse'] as const
    const [stack, calmStack] = await Promise.all([
      startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] }),
      startStack({ services }),
    ])
    const scenario = await Scenario.deploy(stack.rpcUrl)
    const settingsOf = (name: string, { redisUrl }: Stack) => ({
      redis: { url: redisUrl, prefix: name, recent_candles: RECENT_CANDLES },
    })
    const stormy = new Pipeline(stack, 'stormy', CHAIN, settingsOf('stormy', stack))
    const { natsUrls, redisUrl, clickhouseUrl } = calmStack
    const calmServers = { natsUrls, redisUrl, clickhouseUrl, rpcUrl: stack.rpcUrl }
    const calm = new Pipeline(calmServers, 'calm', CHAIN, settingsOf('calm', calmStack))
    await Promise.all([stormy.start(...ROLES), calm.start('all')])
    const gatewayUrl = await stormy.gatewayUrl()
    return new OutageWorld({ stack, calmStack, scenario, stormy, calm, gatewayUrl })
  }

  /** Trades and asks without end, once there is something to ask for. */
  async startLoad(): Promise<void> {
    const { market, tokens } = this.scenario
    const addresses = tokens.map(({ address }) => address.toLowerCase())
    await knowTokens(this.calm, market, addresses)
    await knowTokens({ post: (path, body) => this.ask({ path, body }) }, market, addresses)
    for (let block = 0; block < WARM_UP_BLOCKS; block++) await this.scenario.tradeBlock()
    await this.#learn()
    await this.caughtUp()
    this.load.start()
    this.#trading = this.#trade()
    // Reported when the load is stopped; until then a failure must not count as unhandled.
    this.#trading.catch(() => undefined)
  }

  async stopLoad(): Promise<void> {
    await this.load.stop()
    this.#stop.abort()
    await this.#trading
    this.load.judge()
  }

  /** Every operation succeeds again, at the newest block, and the writer has nothing to complain about. */
  async caughtUp(): Promise<void> {
    await waitFor(
      'the disturbed pipeline to catch up',
      async () => {
        this.expectAlive()
        const reached = this.truth.newest
        for (const operation of this.operations) {
          const { status, headers } = await this.ask(operation)
          const isBehind = operation.isOfBlock && Number(headers.get('x-block')) < reached
          if (status !== 200 || isBehind) return undefined
        }
        return (await this.readiness('writer')).status === 200 ? true : undefined
      },
      PATIENCE_MS,
    )
  }

  /** Asks the disturbed one. */
  async ask(operation: Pick<Operation, 'path' | 'body'>): ReturnType<Pipeline['get']> {
    const answer = await ask(this.stormy, operation)
    this.paid += Number(answer.headers.get('x-cu-cost'))
    return answer
  }

  expectAlive(): void {
    for (const role of ROLES) {
      const { exitCode } = this.stormy.role(role)
      if (exitCode !== null) throw new Error(`${role} gave up with ${exitCode}`)
    }
  }

  /** One more gateway, not waited for. */
  spawnGateway(): RoleProcess {
    const { configFile, dir } = this.stormy
    return new RoleProcess('gateway', configFile, join(dir, 'latecomer.log'))
  }

  async readiness(role: RoleName): Promise<{ status: number; text: string }> {
    const answer = await fetch(`${await this.#adminUrl(role)}/readyz`)
    return { status: answer.status, text: await answer.text() }
  }

  /** The value of a metric without labels, or with the first that are listed. */
  async metric(role: RoleName, name: string): Promise<number> {
    const text = await (await fetch(`${await this.#adminUrl(role)}/metrics`)).text()
    return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1])
  }

  async stop(): Promise<void> {
    await Promise.all([this.stormy.stop('SIGKILL'), this.calm.stop('SIGKILL')])
    await Promise.all([this.stack.stop(), this.calmStack.stop()])
  }

  async #adminUrl(role: RoleName): Promise<string> {
    const { admin_port } = await this.stormy.role(role).logged('Admin server listening')
    return `http://127.0.0.1:${admin_port}`
  }

  async #trade(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const startedAtMs = performance.now()
      await this.scenario.tradeBlock()
      await this.#learn()
      this.load.judge()
      this.expectAlive()
      await sleep(Math.max(0, startedAtMs + BLOCK_MS - performance.now()))
    }
  }

  /** Asks the undisturbed one everything, while nothing happens on the chain. */
  async #learn(): Promise<void> {
    const { number } = await this.scenario.market.head()
    // An answer that is made while blocks arrive may have parts of two of them.
    await waitFor(
      `block ${number}`,
      async () => {
        const { headers } = await this.calm.get('/v2/chains')
        return headers.get('x-block') === String(number) ? true : undefined
      },
      PATIENCE_MS,
    )
    for (const operation of this.operations.filter(({ isOfBlock }) => isOfBlock)) {
      const body = await waitFor(
        `${operation.path} at block ${number}`,
        async () => {
          const answer = await ask(this.calm, operation)
          const isThere = answer.status === 200 && answer.headers.get('x-block') === String(number)
          return isThere ? answer.body : undefined
        },
        PATIENCE_MS,
      )
      this.truth.add(number, operation.path, body)
    }
  }
}

function ask(
  pipeline: Pipeline,
  { path, body }: Pick<Operation, 'path' | 'body'>,
): ReturnType<Pipeline['get']> {
  return body === undefined ? pipeline.get(path) : pipeline.post(path, body)
}
