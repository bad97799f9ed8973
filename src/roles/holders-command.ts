import { readFileSync, statSync } from 'node:fs'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { Multicall } from '../chain/evm/rpc/multicall.ts'
import { createEvmRpc } from '../chain/evm/rpc/rpc.ts'
import { loadConfig } from '../config/load.ts'
import type { Config, EvmChainConfig } from '../config/schema.ts'
import { secretsOf } from '../config/secrets.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { ArgumentError, parseArguments, suggestion } from '../lib/arguments.ts'
import { hideSecrets, scrub } from '../lib/secrets.ts'
import { Shutdown } from '../lib/shutdown.ts'
import { connectLogs } from '../log/connect.ts'
import { decodeImportAnswer, encodeImportQuestion, IMPORTS_TOPIC } from '../wire/import-question.ts'
import { importBalances } from './holders/import-balances.ts'
import { MAX_FILE_BYTES, readBalances } from './holders/read-balances.ts'

const USAGE = `usage: chaintape holders import <chain> <token> <file.csv> --block N [--config FILE]

Imports the balances of a token after block N, for histories that no node serves or that would take days. Each line of the
file is 'address,balance', with the balance in base units. The largest balances, random ones, and the sum of all are
compared with the token's own answers; if anything differs, nothing is imported. See docs/operations.md, "Holders".
`

const REQUEST_MS = 30_000

/** `chaintape holders ...`: returns the exit code. */
export async function runHolders(args: readonly string[]): Promise<number> {
  try {
    const text = { type: 'string' } as const
    const { values, positionals } = parseArguments(args, {
      ...{ config: text, block: text },
      help: { type: 'boolean', short: 'h' },
    })
    if (values.help) {
      process.stdout.write(USAGE)
      return 0
    }
    const [name = '', chain, token, file, unexpected] = positionals
    if (name !== 'import') throw new ArgumentError(`unknown command '${name}'${suggestion(name, ['import'])}`)
    if (chain === undefined || token === undefined || file === undefined)
      throw new ArgumentError('import needs a chain, a token and a file')
    if (unexpected !== undefined) throw new ArgumentError(`unexpected argument '${unexpected}'`)
    if (values.block === undefined || !/^[1-9]\d{0,14}$/.test(values.block))
      throw new ArgumentError('import needs --block N, a positive number')
    if (!/^0x[0-9a-fA-F]{40}$/.test(token)) throw new ArgumentError(`'${token}' is not a token address`)
    const config = loadConfig(values.config ?? process.env['CHAINTAPE_CONFIG'])
    hideSecrets(secretsOf(config))
    const known = Object.keys(config.chains)
    const chainConfig = Object.hasOwn(config.chains, chain) ? config.chains[chain] : undefined
    if (chainConfig === undefined)
      throw new ArgumentError(`unknown chain '${chain}'${suggestion(chain, known)}`)
    if (chainConfig.family !== 'evm')
      throw new ArgumentError(`'${chain}' has no transfer histories to import into`)
    const balances = readBalances(contentOf(file))
    await run(config, chain, chainConfig, {
      token: token.toLowerCase(),
      block: Number(values.block),
      balances,
    })
    return 0
  } catch (error) {
    if (error instanceof ArgumentError) {
      process.stderr.write(`chaintape: ${error.message}\nSee chaintape holders --help\n`)
      return 2
    }
    if (!(error instanceof ChaintapeError)) throw error
    process.stderr.write(scrub(`chaintape: ${error.message}\n`))
    return error.code === 'config_invalid' ? 2 : 1
  }
}

function contentOf(file: string): string {
  try {
    if (statSync(file).size > MAX_FILE_BYTES)
      throw new ArgumentError(`${file} is larger than ${MAX_FILE_BYTES} bytes`)
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw error instanceof ArgumentError ? error : new ArgumentError((error as Error).message)
  }
}

type Import = {
  readonly token: string
  readonly block: number
  readonly balances: ReadonlyMap<string, bigint>
}

async function run(
  config: Config,
  chain: string,
  chainConfig: EvmChainConfig,
  { token, block, balances }: Import,
): Promise<void> {
  const logger = pino({ level: 'warn', hooks: { streamWrite: scrub } }, pino.destination(2))
  const shutdown = new Shutdown(logger)
  shutdown.listenToSignals()
  const { signal } = shutdown
  try {
    const logs = await connectLogs(config.nats, { logger, metrics: new Registry(), shutdown })
    shutdown.onClose('log', () => logs.close())
    const nodes = createEvmRpc({
      urls: chainConfig.rpc_urls,
      http: { timeoutMs: chainConfig.rpc_timeout_ms },
      chainId: chainConfig.chain_id,
      metrics: { answered: () => undefined, up: () => undefined },
      ...{ logger, signal },
    })
    const { gas, answer_bytes: answerBytes } = chainConfig.calls
    const natives = chainConfig.quote_assets.filter(({ kind }) => kind === 'native')
    const parts = {
      ...{ nodes, signal },
      asker: new Multicall(nodes, { gas, answerBytes }),
      wrappedNative: new Set(natives.map(({ address }) => address)),
      ask: async (question: Parameters<typeof encodeImportQuestion>[0]) =>
        decodeImportAnswer(
          await logs.request(`${IMPORTS_TOPIC}.${chain}`, encodeImportQuestion(question), REQUEST_MS),
        ),
      note: (line: string) => void process.stderr.write(`${line}\n`),
    }
    await importBalances(parts, token, block, balances)
  } finally {
    await shutdown.finish()
  }
}
