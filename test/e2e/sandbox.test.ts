import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmdirSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parse } from 'yaml'
import { MAIN_ARGS } from '../../dev/main-args.ts'
import { Sandbox } from '../../src/sandbox/sandbox.ts'
import { storedRows } from '../support/reference/store-dump.ts'
import { environmentWithoutSettings } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import type { Row } from './expected-rows.ts'
import type { Rows } from './protocols-run.ts'
import { type Comparison, SandboxComparison } from './sandbox-comparison.ts'

/** Enough for all established tokens and some launches. */
const HISTORY = 300
const START_MS = 300_000

describe('a minute of its market, with a fork', () => {
  let sandbox: Sandbox
  let comparison: SandboxComparison
  let rows: Rows

  before(
    async () => {
      sandbox = await Sandbox.start({ seed: 4, history: HISTORY, port: 0 })
      await sandbox.step(30, 1)
      await sandbox.fork(3, () => sandbox.caughtUp())
      await sandbox.step(30, 1)
      await sandbox.caughtUp()
      comparison = await SandboxComparison.read(sandbox)
      rows = await settledRows(sandbox, comparison.trades)
    },
    { timeout: START_MS },
  )

  after(() => sandbox?.stop())

  const expectEqual = ({ stored, expected }: Comparison): void => {
    assert.ok(expected.length > 0)
    assert.deepEqual(stored, expected)
  }

  test('everything that was meant to happen did', () => {
    const { expected, curveTrades, trades } = comparison
    const swaps = sandbox.chain.blocks.flatMap(({ actions }) => actions.filter(({ type }) => type === 'swap'))
    assert.equal(trades, swaps.length)
    // At night its market is a third as busy as on average.
    const counts = `${swaps.length} swaps, ${curveTrades.length} on the launchpad`
    assert.ok(swaps.length > HISTORY / 4 && curveTrades.length > 5, counts)
    for (const amm of ['uniswap_v2', 'uniswap_v3', 'uniswap_v4']) {
      const { length } = expected.pools.trades.filter(({ pool }) => pool.amm === amm)
      assert.ok(length > 5, `${length} trades on ${amm}`)
    }
    const pools = sandbox.pools.filter(({ venue }) => venue !== 'curve').map(({ id }) => id)
    assert.deepEqual([...expected.pools.all.keys()].sort(), pools.sort())
  })

  test('every trade is stored, and equals the reference in every column', () => {
    expectEqual(comparison.tradeRows(rows))
  })

  test('every trade on the launchpad is stored with the amounts of its event', () => {
    expectEqual(comparison.launchpadRows(rows))
  })

  test('so are liquidity and changes of main pair', () => {
    expectEqual(comparison.liquidityRows(rows))
    // A short history may have none.
    const { stored, expected } = comparison.switchRows(rows)
    assert.deepEqual(stored, expected)
  })

  test('every pair has the reserves, prices and TVL of the reference', () => {
    expectEqual(comparison.pairRows(rows))
  })

  test('REST returns pairs with their windows, and charts, to the last digit', async () => {
    expectEqual(await comparison.pairAnswers((path) => sandbox.get(path)))
    expectEqual(await comparison.candleAnswers((path) => sandbox.get(path), 12))
  })
})

/** The gateway has served the last block; the writer may be a batch behind. */
function settledRows({ stack }: Sandbox, trades: number): Promise<Rows> {
  let last = ''
  return waitFor('the writer', async () => {
    const found = (await storedRows(stack, 'chaintape')) as Rows
    const isSame = last === JSON.stringify(found)
    last = JSON.stringify(found)
    return isSame && (found['trades']?.length ?? 0) >= trades ? found : undefined
  })
}

describe('chaintape sandbox', () => {
  const folder = mkdtempSync(join(tmpdir(), 'chaintape-sandbox-test-'))
  let child: ChildProcess
  let stdout = ''
  let stderr = ''

  /** Everything it starts has this folder in its environment, and its files there. */
  function start(...args: readonly string[]): void {
    ;[stdout, stderr] = ['', '']
    child = spawn(process.execPath, [...MAIN_ARGS, 'sandbox', ...args], {
      env: { ...environmentWithoutSettings(), TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stdout?.on('data', (data) => {
      stdout += String(data)
    })
    child.stderr?.on('data', (data) => {
      stderr += String(data)
    })
  }

  function processesLeft(): string[] {
    return readdirSync('/proc').filter((pid) => {
      if (!/^\d+$/.test(pid) || pid === String(process.pid)) return false
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`TMPDIR=${folder}`)
      } catch {
        return false
      }
    })
  }

  async function interrupt(): Promise<void> {
    const exited = once(child, 'exit')
    child.kill('SIGINT')
    const [code] = await exited
    assert.equal(code, 0, stderr)
    assert.deepEqual(processesLeft(), [])
    assert.deepEqual(readdirSync(folder), [])
  }

  after(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    rmdirSync(folder)
  })

  test('goes from nothing to a full chart; its key and its lines work; Ctrl-C leaves nothing', async () => {
    start('--history', '720', '--port', '18080', '--speed', '5')
    await waitFor(
      'the guide',
      () => {
        assert.equal(child.exitCode, null, stderr)
        return stdout.includes('Ctrl-C stops everything') ? true : undefined
      },
      START_MS,
    )
    const lines = [...stdout.matchAll(/curl -s -H 'X-API-KEY: (\S+)' '(\S+)'/g)]
    assert.equal(lines.length, 4)
    const [chart] = await Promise.all(
      lines.map(async ([, key = '', url = '']) => {
        const answer = await fetch(url, { headers: { 'X-API-KEY': key } })
        assert.equal(answer.status, 200, url)
        return (await answer.json()) as Row[]
      }),
    )
    const hours = chart?.length ?? 0
    assert.ok(hours > 8, `${hours} of 12 hours have a candle`)
    const url = /^URL +(\S+)$/m.exec(stdout)?.[1] ?? ''
    const head = async () => {
      const answer = await fetch(`${url}/v2/status`)
      return ((await answer.json()) as { chains: { block: number }[] }).chains[0]?.block ?? 0
    }
    const before = await head()
    await waitFor('new blocks', async () => ((await head()) >= before + 3 ? true : undefined))
    assert.equal((await fetch(`${url}/v2/tokens/trending?chain=local`)).status, 401)

    const dir = /^Settings, and a log of each role: (\S+)$/m.exec(stdout)?.[1] ?? ''
    const settings = parse(readFileSync(join(dir, 'chaintape.yaml'), 'utf8')) as {
      nats: { urls: string[] }
      clickhouse: { url: string }
      redis: { url: string }
      admin: Record<string, number>
      chains: { local: { rpc_urls: string[] } }
    }
    const { nats, clickhouse, redis, admin, chains } = settings
    const urls = [url, ...nats.urls, clickhouse.url, redis.url, ...chains.local.rpc_urls]
    const ports = [...urls.map((one) => Number(new URL(one).port)), ...Object.values(admin)]
    assert.ok(ports.length >= 10 && ports.every((port) => port > 0), `${ports}`)
    await interrupt()
    for (const port of ports) assert.equal(await isListening(port), false, `port ${port}`)
  })

  test('Ctrl-C while it starts leaves nothing, either', async () => {
    start('--port', '18080')
    await waitFor('the history', () => (stderr.includes('of 10080 blocks made') ? true : undefined), START_MS)
    await interrupt()
  })

  test('refuses options that make no sense', async () => {
    start('--speed', 'fast')
    const [code] = await once(child, 'exit')
    assert.equal(code, 2)
    assert.match(stderr, /--speed needs a number from 0.01 to 20, not 'fast'/)
  })
})

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
