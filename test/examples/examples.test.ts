import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Contract } from '../../clients/typescript/src/index.ts'
import { objections } from '../../examples/risk-filter.ts'
import type { SandboxPool, SandboxToken } from '../../src/sandbox/chain/places.ts'
import { type Coin, ETHER } from '../../src/sandbox/market/actions.ts'
import { Sandbox } from '../../src/sandbox/sandbox.ts'
import { findBrowser } from '../support/rigs/browser.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { openChart } from './chart-page.ts'
import { EXAMPLES, Program } from './program.ts'

/** Every example against one sandbox. The one in Python is tested with the client. */

const HISTORY = 300
const START_MS = 600_000
/** Tokens arrive every 240 blocks, and not all of them on the launchpad. */
const MOST_BLOCKS = 1_500
const MOST_FORKS = 12
const WALLET_TOKENS = 200
const MIN_TVL = 1_000

const browser = findBrowser()
if (browser === undefined)
  console.log('NOTICE: no Chromium on PATH; the chart is skipped (apt-get install chromium)')

type Swap = { readonly id: string }
type Bot = { readonly cursor: string; readonly tape: readonly { readonly id: string }[] }

describe('the examples', () => {
  let sandbox: Sandbox
  let folder: string
  /** The one that is traded most. */
  let pool: SandboxPool
  let pair: string
  let environment: Record<string, string>
  const programs: Program[] = []

  before(
    async () => {
      const client = resolve(EXAMPLES, '../clients/typescript')
      execFileSync(process.execPath, ['build.ts'], { cwd: client, stdio: 'inherit' })
      folder = mkdtempSync(join(tmpdir(), 'chaintape-examples-'))
      sandbox = await Sandbox.start({ seed: 4, history: HISTORY, port: 0 })
      pool = busiest(sandbox)
      pair = `${pool.id}-local`
      environment = { URL: sandbox.url, KEY: sandbox.apiKey, CHAIN: 'local', PAIR: pair }
    },
    { timeout: START_MS },
  )

  after(async () => {
    for (const program of programs) await program.kill()
    await sandbox?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  function start(file: string, more: Readonly<Record<string, string>> = {}): Program {
    const program = new Program(file, { ...environment, ...more })
    programs.push(program)
    return program
  }

  async function canonical(): Promise<string[]> {
    const { body } = await sandbox.get(`/v2/txs/${pair}?limit=100`)
    return (body as { txs: Swap[] }).txs.map(({ id }) => id).reverse()
  }

  const isTraded = (blocks: readonly Sandbox['chain']['blocks'][number][]): boolean =>
    blocks.some(({ actions }) => actions.some((one) => one.type === 'swap' && one.pool === pool.pool))

  async function trade(): Promise<void> {
    for (let made = 0; made < MOST_BLOCKS; made++) if (isTraded(await sandbox.step())) return
    assert.fail(`no trade of the pair in ${MOST_BLOCKS} blocks`)
  }

  test('the risk filter finds every trap, and no other token', async () => {
    const open = sandbox.pools.filter(({ venue }) => venue !== 'curve')
    const tokens = sandbox.tokens.filter(({ coin }) => open.some(({ base }) => base === coin))
    const traps: SandboxToken[] = []
    for (const token of tokens.filter(({ isTrap }) => isTrap)) {
      const id = open.find(({ base }) => base === token.coin)?.id
      const { body } = await sandbox.get(`/v2/pairs/${id}-local`)
      // A fraud ends with an empty pool, where nobody can try to sell.
      if (Number((body as { tvl: string }).tvl) > MIN_TVL) traps.push(token)
    }
    assert.ok(traps.length > 0 && traps.length < tokens.length / 2, `${traps.length} traps`)
    const found = async (address: string): Promise<string[]> =>
      objections((await sandbox.get(`/v2/contracts/${address}-local`)).body as Contract)
    for (const { address, symbol } of traps)
      await waitFor(`the trap of ${symbol} to be found`, async () => {
        // Results of inspections come with blocks, a few with each.
        await sandbox.step()
        return (await found(address)).includes('cannot be sold') ? true : undefined
      })
    for (const { address, symbol } of tokens.filter(({ isTrap }) => !isTrap))
      assert.ok(!(await found(address)).includes('cannot be sold'), symbol)
  })

  test('the price bot counts every trade once, through kills and a fork', async () => {
    const state = join(folder, 'price-bot.json')
    const read = (): Bot => JSON.parse(readFileSync(state, 'utf8'))
    const tape = (): string[] => read().tape.map(({ id }) => id)
    /** Its tape is the end of the canonical list: nothing is missing, double or retracted. */
    const isTrue = async (): Promise<true | undefined> => {
      bot.assertRunning()
      const [ids, known] = [await canonical(), tape()]
      return known.length > 0 && ids.slice(-known.length).join() === known.join() ? true : undefined
    }
    let bot = start('price-bot.ts', { STATE: state })
    await waitFor('its state', async () => {
      bot.assertRunning()
      return tryRead(state) === undefined ? undefined : isTrue()
    })

    await trade()
    await waitFor('a trade on its tape', isTrue)
    await bot.kill()
    const stopped = tape()
    await trade()
    await sandbox.caughtUp()
    assert.notEqual((await canonical()).at(-1), stopped.at(-1))
    bot = start('price-bot.ts', { STATE: state })
    await waitFor('the trades it missed', isTrue)

    let orphaned: string | undefined
    for (let fork = 0; fork < MOST_FORKS && orphaned === undefined; fork++) {
      const before = (await canonical()).at(-1)
      await sandbox.fork(4, async () => {
        await sandbox.caughtUp()
        const last = (await canonical()).at(-1)
        if (last === before) return
        await waitFor('an orphaned trade on its tape', async () =>
          (await isTrue()) && tape().at(-1) === last ? true : undefined,
        )
        orphaned = last
      })
      await sandbox.caughtUp()
    }
    assert.ok(orphaned !== undefined, `no trade in ${MOST_FORKS} forks`)
    await waitFor('the retraction', isTrue)
    await bot.kill()
  })

  test('the launch watcher reports each launch, and again only when its verdict changes', async () => {
    const watcher = start('launch-watcher.ts')
    const reported = async (): Promise<readonly string[]> => {
      const { body } = await sandbox.get('/v2/tokens/platform?tag=fourmeme_in_new&limit=20')
      const tokens = (body as { token: string }[]).map(({ token }) => token)
      return waitFor('every launch', () => {
        watcher.assertRunning()
        const seen = watcher.lines.map((line) => line.split(' ')[1])
        return tokens.every((token) => seen.includes(token)) ? tokens : undefined
      })
    }
    const first = await reported()
    assert.ok(first.length > 5, `${first.length} launches`)
    const curves = (): number => sandbox.pools.filter(({ venue }) => venue === 'curve').length
    const known = curves()
    for (let made = 0; made < MOST_BLOCKS && curves() === known; made++) await sandbox.step()
    assert.ok(curves() > known, `no launch in ${MOST_BLOCKS} blocks`)
    await waitFor('the new launch', async () =>
      (await reported()).some((token) => !first.includes(token)) ? true : undefined,
    )
    await watcher.kill()
    const last = new Map<string, string>()
    for (const line of watcher.lines) {
      const [, token = '', verdict = ''] = /^\S+ (\S+) "[^"]*": (.+)$/.exec(line) ?? assert.fail(line)
      assert.notEqual(last.get(token), verdict, line)
      last.set(token, verdict)
      assert.notEqual(verdict, 'passes', 'the taxes of a token are unknown while it is on its curve')
    }
  })

  test('the portfolio is worth what balances and prices say, and names what has no price', async () => {
    await sandbox.caughtUp()
    const tokens = sandbox.tokens.map(({ address }) => address)
    const nobody = Array.from(
      { length: WALLET_TOKENS - tokens.length },
      (_, at) => `0x${(at + 1).toString(16).padStart(40, 'f')}`,
    )
    const list = join(folder, 'tokens.txt')
    writeFileSync(list, `${[...tokens, ...nobody].join('\n')}\n`)
    const wallet = sandbox.chain.accounts[sandbox.tokens[2]?.creator ?? 0] ?? ''
    const portfolio = start('portfolio.ts', { RPC: sandbox.chain.gate.url, WALLET: wallet, TOKENS: list })
    const lines = await portfolio.finished()
    const total = lines.at(-1) ?? ''
    const values = lines.slice(0, -1).map((line) => {
      const [, token = '', amount, price] = /^(\S+) (\S+) × \$(\S+) = /.exec(line) ?? []
      return { token, amount: Number(amount), price }
    })
    assert.ok(values.length > 2, lines.join('\n'))
    let sum = 0
    for (const { token, amount, price } of values) {
      const { body } = await sandbox.get(`/v2/tokens/${token}-local`)
      const { current_price_usd } = (body as { data: { token: { current_price_usd: string } } }).data.token
      assert.equal(price, current_price_usd)
      sum += amount * Number(price)
    }
    assert.ok(total.startsWith(`total $${sum.toFixed(2)}, `), `${total}; ${sum}`)
  })

  test('every query of the notebook runs, and explains its candles', async () => {
    await sandbox.caughtUp()
    const { base } = busiest(sandbox, (coin) => coin !== ETHER)
    const token = sandbox.tokens.find(({ coin }) => coin === base)?.address ?? ''
    const parameters = { param_chain: 'local', param_pair: pool.id, param_token: token }
    const query = new URLSearchParams({ default_format: 'JSONEachRow', ...parameters })
    const statements = readFileSync(join(EXAMPLES, 'notebook.sql'), 'utf8').split(/;\n/).slice(0, -1)
    assert.ok(statements.length > 5)
    const run = async (sql: string): Promise<string[]> => {
      const url = `${sandbox.stack.clickhouseUrl}/?database=chaintape&${query}`
      const answer = await fetch(url, { method: 'POST', body: sql })
      const text = await answer.text()
      assert.equal(answer.status, 200, `${sql}\n${text}`)
      return text.split('\n').filter(Boolean)
    }
    const check = statements.at(-1) ?? ''
    await waitFor('every candle explained', async () => ((await run(check)).length === 0 ? true : undefined))
    // The check is worth something only if it looks at candles.
    const one = check.replace('count() AS trade_count', 'count() + 1 AS trade_count')
    assert.ok((await run(one)).length > 3)
    for (const sql of statements.slice(0, 4)) assert.ok((await run(sql)).length > 0, sql)
    for (const sql of statements.slice(4, -1)) await run(sql)
  })

  test('the chart draws the candles of the API, and moves', { skip: browser === undefined }, async () => {
    const chart = await openChart(browser ?? '', { url: sandbox.url, key: sandbox.apiKey, pair })
    try {
      const shown = async (): Promise<true | undefined> => {
        const { body } = await sandbox.get(`/v2/klines/pair/${pair}?interval=k1&limit=1000`)
        const candles = body as { time: number; close: string }[]
        const wanted = `${candles.length} candles, last $${candles.at(-1)?.close}`
        return (await chart.status()) === wanted ? true : undefined
      }
      await waitFor('the candles of the API', shown)
      const before = await chart.pixels()
      await trade()
      await sandbox.caughtUp()
      await waitFor('the trade in the chart', shown)
      await waitFor('other pixels', async () => ((await chart.pixels()).equals(before) ? undefined : true))
      assert.deepEqual(chart.complaints, [])
    } finally {
      await chart.close()
    }
  })
})

function busiest({ chain, pools }: Sandbox, isWanted = (_base: Coin): boolean => true): SandboxPool {
  const counts = new Map<number, number>()
  for (const { actions } of chain.blocks)
    for (const action of actions)
      if (action.type === 'swap') counts.set(action.pool, (counts.get(action.pool) ?? 0) + 1)
  const open = pools.filter(({ venue, base }) => venue !== 'curve' && isWanted(base))
  return open.toSorted((a, b) => (counts.get(b.pool) ?? 0) - (counts.get(a.pool) ?? 0))[0] as SandboxPool
}

function tryRead(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return undefined
  }
}
