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
import { ExpectedAnswers } from './expected-answers.ts'
import { liquidityColumns, switchColumns, tradeColumns } from './expected-columns.ts'
import type { ExpectedMarket } from './expected-market.ts'
import { price, value } from './expected-numbers.ts'
import { klineRows, type Row } from './expected-rows.ts'
import { inChainOrder, pick, type Rows } from './protocols-run.ts'
import { launchpadTrades, sandboxReference } from './sandbox-reference.ts'
import { withoutUnknown } from './without-unknown.ts'

/** Enough for all established tokens and some launches. */
const HISTORY = 300
const START_MS = 300_000
const LAUNCHPAD = 'fourmeme'

describe('a minute of its market, with a fork', () => {
  let sandbox: Sandbox
  let expected: ExpectedMarket
  let rows: Rows
  let curveTrades: ReturnType<typeof launchpadTrades>
  let launched: ReadonlySet<string>

  before(
    async () => {
      sandbox = await Sandbox.start({ seed: 4, history: HISTORY, port: 0 })
      await sandbox.step(30, 1)
      await sandbox.fork(3, () => sandbox.caughtUp())
      await sandbox.step(30, 1)
      await sandbox.caughtUp()
      const reference = await sandboxReference(sandbox)
      expected = reference.expected
      curveTrades = launchpadTrades(sandbox, reference.blocks)
      rows = await settledRows(sandbox, expected.pools.trades.length + curveTrades.length)
      const curves = sandbox.pools.filter(({ venue }) => venue === 'curve')
      launched = new Set(
        curves.map(({ base }) => sandbox.tokens.find(({ coin }) => coin === base)?.address ?? ''),
      )
    },
    { timeout: START_MS },
  )

  after(() => sandbox?.stop())

  const onExchanges = (table: string): Row[] =>
    inChainOrder(rows[table]).filter(({ amm }) => amm !== LAUNCHPAD)

  test('everything that was meant to happen did', () => {
    const swaps = sandbox.chain.blocks.flatMap(({ actions }) => actions.filter(({ type }) => type === 'swap'))
    assert.equal(expected.pools.trades.length + curveTrades.length, swaps.length)
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
    const trades = expected.pools.trades.map(tradeColumns)
    const columns = Object.keys(trades[0] ?? {})
    assert.deepEqual(
      onExchanges('trades').map((row) => pick(row, columns)),
      trades,
    )
  })

  test('every trade on the launchpad is stored with the amounts of its event', () => {
    const stored = inChainOrder(rows['trades']).filter(({ amm }) => amm === LAUNCHPAD)
    assert.deepEqual(
      stored.map((row) => {
        const { block, log, sold_amount_raw: sold, bought_amount_raw: bought } = row
        return { block, log, sold, bought }
      }),
      curveTrades,
    )
  })

  test('so are liquidity and changes of main pair', () => {
    const events = expected.pools.liquidity.map(liquidityColumns)
    assert.deepEqual(
      onExchanges('liquidity').map((row) => pick(row, Object.keys(events[0] ?? {}))),
      events,
    )
    const switches = expected.tokens.switches.filter(({ token }) => !launched.has(token)).map(switchColumns)
    const stored = (rows['switches'] ?? []).filter(({ token }) => !launched.has(String(token)))
    assert.deepEqual(
      stored.map((row) => pick(row, ['token', 'block', 'old_pair', 'new_pair', 'reason'])),
      switches.toSorted((a, b) => (String(a['token']) < String(b['token']) ? -1 : 1)),
    )
  })

  test('every pair has the reserves, prices and TVL of the reference', () => {
    const stored = new Map((rows['pairs'] ?? []).map((row) => [row['address'], row]))
    for (const one of expected.pools.all.values()) {
      const wanted = {
        token0_reserve_raw: String(one.reserve0),
        token1_reserve_raw: String(one.reserve1),
        token0_price_usd: price(one.prices.price0.usd) ?? null,
        token1_price_usd: price(one.prices.price1.usd) ?? null,
        tvl_usd: value(one.tvl.usd) ?? null,
      }
      assert.deepEqual(pick(stored.get(one.id) ?? {}, Object.keys(wanted)), wanted, one.id)
    }
  })

  test('REST returns pairs with their windows, and charts, to the last digit', async () => {
    const answers = new ExpectedAnswers(expected)
    const pools = [...expected.pools.all.values()].filter(
      ({ token0, token1 }) => !launched.has(token0.address) && !launched.has(token1.address),
    )
    for (const { id } of pools) {
      const { status, body } = await sandbox.get(`/v2/pairs/${id}-local`)
      assert.equal(status, 200)
      const wanted = answers.pairDetail(id)
      // Holders are read in the background, and the node has forgotten how much ether was wrapped in old blocks.
      const isWrapped = wanted['target_token'] === sandbox.chain.exchanges.weth
      const left = ['market_cap', ...(isWrapped ? ['fdv'] : [])]
      assert.deepEqual(without(withoutUnknown(body as Row), left), without(wanted, left))
    }
    for (const { id } of pools.slice(0, 12)) {
      for (const interval of ['k1', 'k60'] as const) {
        const { body } = await sandbox.get(`/v2/klines/pair/${id}-local?interval=${interval}&limit=1000`)
        const candles = (body as Row[]).map(({ revision: _, ...candle }) => candle)
        assert.deepEqual(candles, klineRows(answers.candles(id, interval), 'usd').slice(-1_000))
      }
    }
  })
})

function without(row: Row, names: readonly string[]): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)))
}

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
