import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { MAIN_ARGS } from '../../dev/main-args.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { encodeChangeSet } from '../../src/wire/change-codec.ts'
import { MEME_WETH, samplePair, sampleSet, USDC, WETH } from '../support/builders/market-samples.ts'
import { withLogs } from '../support/builders/test-key.ts'
import { RoleProcess } from '../support/rigs/pipeline.ts'

const PREFIX = 'quotatest'

/** The cheapest operation that reads something. */
export const PAIR_PATH = `/v2/pairs/${MEME_WETH}-eth`
export const PAIR_CU = 5

const chain = {
  family: 'evm',
  chain_id: 1,
  rpc_urls: ['http://127.0.0.1:1'],
  quote_assets: [
    { address: USDC, kind: 'stable' },
    { address: WETH, kind: 'native' },
  ],
  dexes: [{ amm: 'uniswap_v2', protocol: 'uniswap_v2', factory: `0x${'0'.repeat(40)}` }],
}

export type Gateway = {
  readonly url: string
  readonly adminUrl: string
  readonly process: RoleProcess
  readonly logFile: string
}

/** Real NATS and Redis, gateways as processes, keys made by the command line. */
export class QuotaWorld {
  readonly stack: Stack
  readonly dir: string
  readonly configFile: string
  readonly gateways: Gateway[] = []
  /** All that the command line printed. */
  readonly printed: string[] = []

  private constructor(stack: Stack, settings: object) {
    this.stack = stack
    this.dir = mkdtempSync(join(tmpdir(), 'chaintape-quota-'))
    this.configFile = join(this.dir, 'chaintape.yaml')
    const config = {
      data_dir: join(this.dir, 'data'),
      nats: { urls: stack.natsUrls, prefix: PREFIX },
      redis: { url: stack.redisUrl, prefix: PREFIX },
      admin: { gateway_port: 0 },
      chains: { eth: chain },
      ...settings,
    }
    // JSON is YAML.
    writeFileSync(this.configFile, JSON.stringify(config))
  }

  static async start(settings: { gateway: object; plans: object; log_level?: string }): Promise<QuotaWorld> {
    const stack = await startStack({ services: ['nats', 'redis'] })
    const world = new QuotaWorld(stack, settings)
    // Never stored: the gateways answer from the log, so that Redis may lose everything.
    await withLogs({ urls: stack.natsUrls, prefix: PREFIX }, async (logs) => {
      const publisher = await (await logs.open('CHANGES', 'eth')).openPublisher()
      await publisher.publish(encodeChangeSet(sampleSet(1, [{ type: 'pair', pair: samplePair() }])))
    })
    return world
  }

  async startGateways(count: number): Promise<void> {
    const started = Array.from({ length: count }, async (_, index) => {
      const logFile = join(this.dir, `gateway-${this.gateways.length + index}.log`)
      const process = new RoleProcess('gateway', this.configFile, logFile)
      const { port } = await process.logged('Gateway listening')
      const { admin_port } = await process.logged('Admin server listening')
      await process.ready()
      const [url, adminUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${admin_port}`]
      return { url, adminUrl, process, logFile }
    })
    this.gateways.push(...(await Promise.all(started)))
  }

  /** Runs `chaintape keys ...` as an operator does; gives what it printed. */
  async keys(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const child = spawn(process.execPath, [...MAIN_ARGS, 'keys', ...args, '--config', this.configFile])
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    if (child.exitCode === null) await once(child, 'exit')
    this.printed.push(stdout, stderr)
    return { code: child.exitCode, stdout: stdout.trim(), stderr }
  }

  async createKey(plan: string): Promise<{ apiKey: string; id: string }> {
    const { code, stdout, stderr } = await this.keys('create', '--name', `a ${plan} key`, '--plan', plan)
    assert.equal(code, 0, stderr)
    const [, id = ''] = /^Key (\S+) created/.exec(stderr) ?? []
    assert.notEqual(id, '', stderr)
    return { apiKey: stdout, id }
  }

  gateway(index: number): Gateway {
    const gateway = this.gateways[index % this.gateways.length]
    assert.ok(gateway !== undefined)
    return gateway
  }

  logs(): string {
    return this.gateways.map(({ logFile }) => readFileSync(logFile, 'utf8')).join('\n')
  }

  async stop(): Promise<void> {
    await Promise.all(this.gateways.map(({ process }) => process.kill('SIGKILL')))
    await this.stack.stop()
    rmSync(this.dir, { recursive: true, force: true })
  }
}

export type Answer = {
  readonly status: number
  readonly code: string | undefined
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

export async function ask(gateway: Gateway, apiKey: string, path = PAIR_PATH): Promise<Answer> {
  const response = await fetch(`${gateway.url}${path}`, { headers: { 'x-api-key': apiKey } })
  const body = (await response.json()) as Record<string, unknown>
  const code = response.ok ? undefined : String(body['code'])
  return { status: response.status, code, headers: response.headers, body }
}

/** How many answers there are of each kind. */
export function tally(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, code } of answers) {
    const kind = code === undefined ? `${status}` : `${status} ${code}`
    counts[kind] = (counts[kind] ?? 0) + 1
  }
  return counts
}
