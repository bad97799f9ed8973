import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Hex } from 'viem'
import { WebSocket } from 'ws'
import { stringify } from 'yaml'
import { MAIN_ARGS } from './main-args.ts'
import { Market } from './market/market.ts'
import { startStack } from './stack.ts'

/**
 * A complete market on one machine: the real servers, a real Uniswap V2 on anvil, the four roles each in its own process,
 * trades coming in, and live candles on the terminal. A role that dies is restarted.
 */

const ROLES = ['reader', 'engine', 'writer', 'gateway'] as const
const TRADE_EVERY_MS = 400

const { values } = parseArgs({ options: { candles: { type: 'string' } } })
/** Ends by itself after so many pushes; fails if they do not come. */
const candlesWanted = values.candles === undefined ? Number.POSITIVE_INFINITY : Number(values.candles)
const PATIENCE_MS = candlesWanted === Number.POSITIVE_INFINITY ? 2 ** 31 - 1 : 120_000
const ending = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => ending.abort())

const dir = mkdtempSync(join(tmpdir(), 'chaintape-demo-'))
const stack = await startStack({ anvil: ['--no-mining'] })
const stops: (() => Promise<void> | void)[] = [
  () => stack.stop(),
  () => rmSync(dir, { recursive: true, force: true }),
]
let candlesSeen = 0
try {
  say('NATS, Redis, ClickHouse and anvil are up')
  const market = await Market.deploy(stack.rpcUrl)
  const { token, pair } = await openPools(market)
  say('Uniswap V2 deployed: PEP/WETH and USDT/WETH')
  const port = await freePort(8080)
  const configFile = writeConfig(port)
  const apiKey = createKey(configFile)
  for (const role of ROLES) stops.unshift(keepRunning(role, configFile))
  const url = `http://127.0.0.1:${port}`
  stops.unshift(trade(market, token))
  if (await answers(`${url}/v2/tokens/${token}-local`, apiKey)) explain(url, token, pair, apiKey)
  stops.unshift(showCandles(url, pair, apiKey))
  await sleep(PATIENCE_MS, undefined, { signal: ending.signal }).catch(() => undefined)
} finally {
  ending.abort()
  say('Stopping')
  for (const stop of stops) await stop()
}
if (Number.isFinite(candlesWanted) && candlesSeen < candlesWanted) {
  say(`${candlesSeen} candles came, ${candlesWanted} were wanted`)
  process.exitCode = 1
}

async function openPools(market: Market): Promise<{ token: Hex; pair: Hex }> {
  // The stablecoin comes first: config/chains/local.yaml knows it by the address that follows from that.
  const stable = await market.createToken({
    name: 'Test Dollar',
    symbol: 'USDT',
    decimals: 6,
    supply: 10n ** 15n,
  })
  const token = await market.createToken({ name: 'Pepper', symbol: 'PEP', decimals: 9, supply: 10n ** 18n })
  await market.addLiquidityNative(stable, 2_400_000n * 10n ** 6n, 1_000n * 10n ** 18n)
  await market.addLiquidityNative(token, 10n ** 17n, 50n * 10n ** 18n)
  await market.mine()
  return { token, pair: (await market.pairOf(token, market.weth)).toLowerCase() as Hex }
}

function writeConfig(port: number): string {
  const file = join(dir, 'chaintape.yaml')
  const config = {
    data_dir: join(dir, 'data'),
    nats: { urls: stack.natsUrls },
    clickhouse: { url: stack.clickhouseUrl },
    redis: { url: stack.redisUrl },
    gateway: { port },
    admin: { reader_port: 0, engine_port: 0, writer_port: 0, gateway_port: 0, reconciler_port: 0 },
    chains: { local: { rpc_urls: [stack.rpcUrl] } },
  }
  writeFileSync(file, stringify(config))
  return file
}

/** As an operator does. */
function createKey(configFile: string): string {
  const args = [...MAIN_ARGS, 'keys', 'create', '--name', 'demo', '--config', configFile]
  return execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
}

/** Starts a role, and starts it again whenever it ends, until the demo does. */
function keepRunning(role: string, configFile: string): () => Promise<void> {
  const log = createWriteStream(join(dir, `${role}.log`))
  let child = start()
  function start() {
    const started = spawn(process.execPath, [...MAIN_ARGS, role, '--config', configFile], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    started.stdout.pipe(log, { end: false })
    started.stderr.pipe(log, { end: false })
    started.once('exit', (code, signal) => {
      if (ending.signal.aborted) return
      say(`${role} ended (${signal ?? code}); starting it again`)
      setTimeout(() => {
        if (!ending.signal.aborted) child = start()
      }, 300)
    })
    say(`${role.padEnd(8)} pid ${started.pid}`)
    return started
  }
  return async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
}

/** Buys and sells of random size, a block for each. */
function trade(market: Market, token: Hex): () => Promise<void> {
  const loop = (async () => {
    while (!ending.signal.aborted) {
      const size = BigInt(1 + Math.floor(Math.random() * 1_000))
      if (Math.random() < 0.5) await market.buyWithNative(token, size * 10n ** 15n)
      else await market.sellForNative(token, size * 2n * 10n ** 12n)
      await market.mine()
      await sleep(TRADE_EVERY_MS, undefined, { signal: ending.signal }).catch(() => undefined)
    }
  })()
  return () => loop
}

function showCandles(url: string, pair: Hex, apiKey: string): () => void {
  let socket: WebSocket | undefined
  const connect = (): void => {
    if (ending.signal.aborted) return
    socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers: { 'X-API-KEY': apiKey } })
    socket.on('open', () => {
      socket?.send(
        JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'subscribe',
          params: ['kline', pair, 'k1', 'local'],
        }),
      )
    })
    socket.on('message', (data) => {
      // Right after the start the pair may not have been read yet.
      if (!showPush(String(data))) socket?.close()
    })
    // The gateway may not be up yet, or may just have been killed: try again.
    socket.on('error', () => undefined)
    socket.on('close', () => setTimeout(connect, 300))
  }
  connect()
  return () => socket?.terminate()
}

/** False when the gateway refused. */
function showPush(text: string): boolean {
  const message = JSON.parse(text) as {
    error?: unknown
    result?: { topic?: string; kline?: { usd: Record<string, string> } }
  }
  if (message.error !== undefined) return false
  if (message.result?.topic !== 'kline' || message.result.kline === undefined) return true
  if (++candlesSeen >= candlesWanted) ending.abort()
  const { time, open, high, low, close, volume } = message.result.kline.usd
  const clock = new Date(Number(time) * 1000).toISOString().slice(11, 16)
  const short = (price: string | undefined): string => (price ?? '').slice(0, 12).padEnd(12)
  const arrow = Number(close) >= Number(open) ? '\u25b2' : '\u25bc'
  const prices = `open ${short(open)} high ${short(high)} low ${short(low)} close ${short(close)}`
  say(`PEP ${clock} ${arrow}  ${prices} volume $${(volume ?? '').split('.')[0]}`)
  return true
}

/** Hints are of use once a `curl` succeeds. */
async function answers(path: string, apiKey: string): Promise<boolean> {
  while (!ending.signal.aborted) {
    const response = await fetch(path, { headers: { 'X-API-KEY': apiKey } }).catch(() => undefined)
    await response?.arrayBuffer()
    if (response?.status === 200) return true
    await sleep(200, undefined, { signal: ending.signal }).catch(() => undefined)
  }
  return false
}

function explain(url: string, token: string, pair: string, apiKey: string): void {
  const lines = [
    '',
    'The gateway is ready. In another terminal:',
    `  curl -s -H 'X-API-KEY: ${apiKey}' ${url}/v2/tokens/${token}-local`,
    `  curl -s -H 'X-API-KEY: ${apiKey}' ${url}/v2/pairs/${pair}-local`,
    `In a browser: ${url}/docs lets you try every REST operation (Authorize: the key above).`,
    `WebSocket: ${url.replace('http', 'ws')}/ws; authenticate with the header X-API-KEY or the message`,
    `  {"jsonrpc":"2.0","id":1,"method":"auth","params":["${apiKey}"]}, then subscribe with`,
    `  {"jsonrpc":"2.0","id":2,"method":"subscribe","params":["tx","${pair}","local"]}`,
    'To see it recover, kill -9 any of the pids above: it restarts, and no trade is lost.',
    `Logs: ${dir}`,
    'Live one-minute candles of PEP in dollars (Ctrl-C stops everything):',
    '',
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

function freePort(preferred: number): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(freePort(0)))
    probe.listen(preferred, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
