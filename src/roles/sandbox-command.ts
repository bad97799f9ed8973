import { ArgumentError } from '../lib/arguments.ts'
import { Sandbox } from '../sandbox/sandbox.ts'
import { missingPrograms } from '../sandbox/servers/programs.ts'
import { note, runCommand, TEXT } from './command.ts'

const USAGE = `usage: chaintape sandbox [options]

Starts NATS, Redis, ClickHouse's engine, a local Ethereum node and every role, and makes a market: Uniswap V2, V3 and V4,
a launchpad, some 50 tokens and 120 pools, a week of history, and trades that go on until Ctrl-C. Nothing is kept.

  --seed NUMBER     another market; the same number gives the same one (1)
  --speed NUMBER    blocks per second, at most 20 (1)
  --history BLOCKS  blocks of history, one a minute (10080)
  --port PORT       of the gateway; another one if it is taken (8080)
`

const MOST_SPEED = 20
const MOST_HISTORY = 100_000
const INTERRUPTED = 130

/** `chaintape sandbox`: returns the exit code. */
export async function runSandbox(args: readonly string[]): Promise<number> {
  const options = { seed: TEXT, speed: TEXT, history: TEXT, port: TEXT }
  return runCommand({ name: 'sandbox', usage: USAGE, options }, args, async ({ values, positionals }) => {
    if (positionals[0] !== undefined) throw new ArgumentError(`unexpected argument '${positionals[0]}'`)
    const seed = numberOf('seed', values.seed ?? '1', 0, 2 ** 31, true)
    const speed = numberOf('speed', values.speed ?? '1', 0.01, MOST_SPEED, false)
    const history = numberOf('history', values.history ?? '10080', 60, MOST_HISTORY, true)
    const port = numberOf('port', values.port ?? '8080', 1, 65_535, true)
    const missing = missingPrograms()
    if (missing.length > 0) {
      note(`The sandbox needs:\n${missing.map((line) => `  ${line}`).join('\n')}`)
      note('In a clone of the repository, `dev/setup` installs all of it.')
      return 1
    }
    return await play({ seed, speed, history, port })
  })
}

type Choice = {
  readonly seed: number
  readonly speed: number
  readonly history: number
  readonly port: number
}

async function play({ seed, speed, history, port }: Choice): Promise<number> {
  const ending = new AbortController()
  const started = Date.now()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      // Processes and files are removed at once when this process exits.
      if (ending.signal.aborted) process.exit(INTERRUPTED)
      note('Stopping; again to stop at once')
      ending.abort()
    })
  }
  let sandbox: Sandbox
  try {
    const { signal } = ending
    sandbox = await Sandbox.start({ seed, history, port, signal, onProgress: note })
  } catch (error) {
    if (ending.signal.aborted) return 0
    throw error
  }
  try {
    note(`Ready after ${Math.round((Date.now() - started) / 1_000)} s`)
    process.stdout.write(guideTo(sandbox))
    await sandbox.run(speed, ending.signal)
  } finally {
    await sandbox.stop()
    note('Stopped')
  }
  return 0
}

/** The token that is traded most, and its deepest pool. */
function guideTo({ url, apiKey, tokens, pools, dir, stack }: Sandbox): string {
  const [, token] = tokens
  const pool = pools.find(({ base }) => base === token?.coin)
  const header = `-H 'X-API-KEY: ${apiKey}'`
  const lines = [
    '',
    `URL      ${url}`,
    `API key  ${apiKey}`,
    '',
    `A week of ${token?.symbol} by the hour, its newest trades, what is trending, and a search:`,
    `  curl -s ${header} '${url}/v2/klines/pair/${pool?.id}-local?interval=k60'`,
    `  curl -s ${header} '${url}/v2/txs/${pool?.id}-local?limit=5'`,
    `  curl -s ${header} '${url}/v2/tokens/trending?chain=local'`,
    `  curl -s ${header} '${url}/v2/tokens?keyword=${token?.symbol}'`,
    '',
    'For the examples of the guides:',
    `  export URL=${url} KEY=${apiKey}`,
    `  export CHAIN=local PAIR=${pool?.id}-local TOKEN=${token?.address}-local`,
    `  export CLICKHOUSE=${stack.clickhouseUrl} DATABASE=chaintape`,
    '',
    `In a browser: ${url}/docs (Authorize: the key above).`,
    `WebSocket: ${url.replace('http', 'ws')}/ws; send`,
    `  {"jsonrpc":"2.0","id":1,"method":"auth","params":["${apiKey}"]}`,
    `  {"jsonrpc":"2.0","id":2,"method":"subscribe","params":["tx","${pool?.id}","local"]}`,
    `Settings, and a log of each role: ${dir}`,
    'Ctrl-C stops everything and removes it.',
    '',
  ]
  return `${lines.join('\n')}\n`
}

function numberOf(name: string, text: string, least: number, most: number, isWhole: boolean): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (value >= least && value <= most && (!isWhole || Number.isInteger(value))) return value
  const kind = isWhole ? 'a whole number' : 'a number'
  throw new ArgumentError(`--${name} needs ${kind} from ${least} to ${most}, not '${text}'`)
}
