import type { ChainConfig, Config } from '../config/schema.ts'
import { scrub } from '../lib/secrets.ts'
import { commonOfCommand, configOf, runCommand } from './command.ts'
import { checkEvmNode } from './doctor/evm-node.ts'
import type { Finding, Level } from './doctor/finding.ts'
import { checkMachine } from './doctor/machine.ts'
import { checkClickhouse, checkNats, checkRedis } from './doctor/servers.ts'
import { checkSolanaNode } from './doctor/solana-node.ts'

const USAGE = `usage: chaintape doctor [options]

Checks the settings, this machine, NATS, Redis, ClickHouse and every node, and says what to do about what it finds. It
changes nothing. The exit code is 1 if there is a problem, and 2 if the settings are invalid.

  --config FILE   settings in YAML; CHAINTAPE_CONFIG is the same
`

const SIGNS: Readonly<Record<Level, string>> = { ok: 'ok     ', note: 'note   ', problem: 'PROBLEM' }

/** `chaintape doctor`: returns the exit code. */
export async function runDoctor(args: readonly string[]): Promise<number> {
  return runCommand({ name: 'doctor', usage: USAGE, options: {} }, args, async ({ values }) => {
    const config = configOf(values)
    process.stdout.write('ok      settings\n')
    let problems = 0
    let notes = 0
    for await (const findings of inOrder(config)) {
      for (const { about, level, text, advice } of findings) {
        const lines = [
          `${SIGNS[level]} ${about}: ${text}`,
          ...(advice === undefined ? [] : [`        ${advice}`]),
        ]
        process.stdout.write(scrub(`${lines.join('\n')}\n`))
        problems += Number(level === 'problem')
        notes += Number(level === 'note')
      }
    }
    process.stdout.write(`${problems} problems, ${notes} notes\n`)
    return problems > 0 ? 1 : 0
  })
}

/** All are asked at the same time, and printed in this order. */
async function* inOrder(config: Config): AsyncGenerator<readonly Finding[]> {
  const common = commonOfCommand()
  const checks = [
    checkMachine(config),
    checkNats(config),
    checkRedis(config, common),
    checkClickhouse(config),
    ...Object.entries(config.chains).flatMap(([name, chain]) => checkNodes(name, chain)),
  ]
  for (const check of checks) yield check
}

function checkNodes(name: string, chain: ChainConfig): Promise<readonly Finding[]>[] {
  return chain.rpc_urls.map(async (url, index) => {
    if (chain.family === 'evm') return (await checkEvmNode(url, index, name, chain)).findings
    return (await checkSolanaNode(url, index, name, chain)).findings
  })
}
