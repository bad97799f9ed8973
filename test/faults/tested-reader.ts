import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { RpcOutcome } from '../../src/chain/rpc/endpoint-reports.ts'
import type { BlockEnvelope, Fact } from '../../src/domain/envelope.ts'
import { connectLogs } from '../../src/log/connect.ts'
import { decodeEnvelope } from '../../src/wire/envelope-codec.ts'
import { CanonicalView } from '../support/reference/canonical-view.ts'
import { type Fault, FaultyProxy } from '../support/rigs/faulty-proxy.ts'
import { readAll } from '../support/rigs/log-reading.ts'
import { RoleProcess } from '../support/rigs/pipeline.ts'
import { createTestCommon, type LogLine } from '../support/rigs/test-common.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import type { FaultRig, NodeLog } from './fault-rig.ts'

export type ReaderOptions = {
  readonly name: string
  /** How many nodes it is given, each behind a proxy of its own. */
  readonly nodes: number
  readonly chain?: Record<string, unknown>
}

/** A real reader in a process of its own, behind nodes that can be made to fail. */
export class TestedReader {
  readonly name: string
  readonly proxies: readonly FaultyProxy[]
  readonly #rig: FaultRig
  readonly #dir: string
  readonly #process: RoleProcess

  private constructor(rig: FaultRig, proxies: readonly FaultyProxy[], { name, chain = {} }: ReaderOptions) {
    this.#rig = rig
    this.name = name
    this.proxies = proxies
    this.#dir = mkdtempSync(join(tmpdir(), `chaintape-${name}-`))
    const configFile = join(this.#dir, 'chaintape.yaml')
    const config = {
      data_dir: join(this.#dir, 'data'),
      nats: { urls: rig.stack.natsUrls, prefix: name },
      admin: { reader_port: 0 },
      chains: {
        local: {
          rpc_urls: proxies.map(({ url }) => url),
          rpc_timeout_ms: 3_000,
          poll_ms: 100,
          finality_depth: 10,
          ...chain,
        },
      },
    }
    writeFileSync(configFile, stringify(config))
    this.#process = new RoleProcess('reader', configFile, join(this.#dir, 'reader.log'))
  }

  static async start(rig: FaultRig, options: ReaderOptions): Promise<TestedReader> {
    const starts = Array.from({ length: options.nodes }, (_, index) =>
      FaultyProxy.start(rig.stack.rpcUrl, index),
    )
    return new TestedReader(rig, await Promise.all(starts), options)
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode === null) await this.#process.kill('SIGKILL')
    await Promise.all(this.proxies.map((proxy) => proxy.close()))
    rmSync(this.#dir, { recursive: true, force: true })
  }

  /** Its own web pages: `/metrics`, `/healthz`, `/readyz`. */
  async page(path: string): Promise<{ status: number; text: string }> {
    const { admin_port } = await this.#process.logged('Admin server listening')
    const answer = await fetch(`http://127.0.0.1:${admin_port}${path}`)
    return { status: answer.status, text: await answer.text() }
  }

  async metric(name: string, labels: Record<string, string> = {}): Promise<number> {
    const { text } = await this.page('/metrics')
    const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`)
    const line = text.split('\n').find((candidate) => {
      return candidate.startsWith(`${name}{`) && wanted.every((label) => candidate.includes(label))
    })
    return line === undefined ? 0 : Number(line.split(' ').at(-1))
  }

  count(proxy: FaultyProxy, outcome: RpcOutcome): Promise<number> {
    return this.metric('chaintape_reader_rpc_requests_total', { endpoint: proxy.label, outcome })
  }

  lines(msg: string): LogLine[] {
    const file = join(this.#dir, 'reader.log')
    // It is there once the process has said something.
    const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
    return text
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as LogLine)
      .filter((line) => line.msg === msg)
  }

  tip(): Promise<number> {
    return this.metric('chaintape_reader_tip_block')
  }

  async reach(number: number): Promise<void> {
    await this.#wait(`to reach block ${number}`, async () => (await this.tip()) >= number)
  }

  /** The node that most of what it asks goes to: what happens to that one matters. */
  async favourite(): Promise<FaultyProxy> {
    const seen = (): number[] => this.proxies.map(({ seen: { requests } }) => requests)
    let before = seen()
    let favourite: FaultyProxy | undefined
    await this.#wait('to prefer a node', async () => {
      const asked = seen().map((requests, index) => requests - (before[index] ?? 0))
      const total = asked.reduce((sum, requests) => sum + requests, 0)
      if (total < 20) return false
      before = seen()
      favourite = this.proxies[asked.findIndex((requests) => requests > 0.7 * total)]
      return favourite !== undefined
    })
    return favourite as FaultyProxy
  }

  /** Waits until this endpoint, and no other, is reported as faulty, in the metrics and in the log. */
  async named(culprit: FaultyProxy, outcome: RpcOutcome, msg: string): Promise<void> {
    await this.#wait(`to name ${culprit.label} as ${outcome}`, async () => {
      if ((await this.count(culprit, outcome)) > 0) return true
      // It may be the others that are asked just now: work for everybody, done slowly by them, brings its turn.
      for (const proxy of this.proxies)
        if (proxy !== culprit && proxy.fault.kind === 'none') proxy.fault = SLOW
      await this.#rig.trade(1)
      // No faster than a chain has blocks.
      await new Promise((resolve) => setTimeout(resolve, 400))
      return false
    })
    for (const proxy of this.proxies) if (proxy.fault === SLOW) proxy.fault = { kind: 'none' }
    await this.#wait(`to log "${msg}"`, async () => this.lines(msg).length > 0)
    const named = new Set(this.lines(msg).map((line) => line['endpoint']))
    assert.deepEqual([...named], [culprit.label])
    // An endpoint that lost against a faster one counts as a timeout, and is not at fault.
    if (outcome === 'timeout') return
    for (const proxy of this.proxies) {
      if (proxy !== culprit) assert.equal(await this.count(proxy, outcome), 0, `${proxy.label} is innocent`)
    }
  }

  /** All facts of its log, undone or not. */
  async facts(): Promise<Fact[]> {
    return (await this.#readLog()).all.flatMap(({ facts }) => facts)
  }

  async firstBlock(): Promise<number | undefined> {
    return (await this.#readLog()).all[0]?.number
  }

  /** All that ever was in its log, undone or not, is of the node; and nothing of the pools is missing. */
  async expectTrueLog(): Promise<void> {
    const { view, all } = await this.#readLog()
    const [first, last] = [view.blocks[0]?.number ?? 0, view.blocks.at(-1)?.number ?? 0]
    const highest = Math.max(...all.map(({ number }) => number))
    const [blocks, everyLog] = await Promise.all([
      this.#rig.blocks(first, last),
      this.#rig.logs(first, highest),
    ])
    assert.ok(blocks.length > 0)
    assert.deepEqual(
      view.blocks.map(({ number, hash, time }) => ({ number, hash, time })),
      blocks.map(({ number, hash, timestamp }) => ({
        number: Number(number),
        hash,
        time: Number(timestamp),
      })),
    )
    const truth = new Set(everyLog.map(logText))
    for (const text of all.flatMap(logTexts)) assert.ok(truth.has(text), `${this.name}: no such log: ${text}`)
    const { stablePair, tokenPair } = this.#rig.scenario
    const ofPools = everyLog.filter(({ address, topics, blockNumber }) => {
      if (Number(blockNumber) > last) return false
      return [stablePair, tokenPair].some((pair) => pair === address) && SWAPS.includes(topics[0] ?? '')
    })
    assert.ok(ofPools.length > 0)
    const read = new Set(view.blocks.flatMap(logTexts))
    for (const text of ofPools.map(logText)) assert.ok(read.has(text), `${this.name}: not read: ${text}`)
  }

  /** Seldom enough that looking does not keep the machine busy. */
  async #wait(what: string, isSo: () => Promise<boolean>): Promise<void> {
    await waitFor(`${this.name} ${what}`, async () => {
      if (await isSo()) return true
      await new Promise((resolve) => setTimeout(resolve, 100))
      return undefined
    })
  }

  async #readLog(): Promise<{ view: CanonicalView; all: BlockEnvelope[] }> {
    const { natsUrls: urls } = this.#rig.stack
    const options = { urls, prefix: this.name, replicas: 1, max_frame_bytes: 900_000 }
    const logs = await connectLogs(options, createTestCommon())
    try {
      const messages = await readAll(await logs.open('BLOCKS', 'local'))
      const envelopes = messages.map(({ body }) => decodeEnvelope(body))
      const all = envelopes.flatMap((envelope) => (envelope.kind === 'block' ? [envelope] : []))
      return { view: CanonicalView.of(envelopes), all }
    } finally {
      await logs.close()
    }
  }
}

const SLOW: Fault = { kind: 'delay', delayMs: 80 }
/** Swap and Sync of Uniswap V2. */
const SWAPS = [
  '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822',
  '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1',
]

function logText({ blockHash, transactionHash, logIndex, address, topics, data }: NodeLog): string {
  return [blockHash, transactionHash, Number(logIndex), address, ...topics, data].join(' ')
}

function logTexts({ hash: blockHash, transactions }: BlockEnvelope): string[] {
  return transactions.flatMap(({ hash, logs }) =>
    logs.map(({ index, address, topics, data }) =>
      [blockHash, hash, index, address, ...topics, `0x${Buffer.from(data).toString('hex')}`].join(' '),
    ),
  )
}
