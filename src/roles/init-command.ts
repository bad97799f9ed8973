import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { stringify } from 'yaml'
import { parseConfig, shippedChains } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { secretsOf } from '../config/secrets.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { ArgumentError, suggestion } from '../lib/arguments.ts'
import { hideSecrets, scrub } from '../lib/secrets.ts'
import { note, runCommand, TEXT } from './command.ts'
import { checkEvmNode } from './doctor/evm-node.ts'
import type { Finding } from './doctor/finding.ts'
import { checkSolanaNode } from './doctor/solana-node.ts'

const USAGE = `usage: chaintape init --chain NAME [options]

Writes a commented chaintape.yaml for one of the preconfigured chains: ${shippedChains().join(', ')}.
With --rpc it asks the node what it can do, and starts at its newest block.

  --chain NAME   the chain to read
  --rpc URL      your node; several are separated by commas
  --out FILE     by default chaintape.yaml; an existing file is never overwritten
`

const TEMPLATE = new URL('../../config/init.yaml.template', import.meta.url)
const EXAMPLE_NODES = { evm: 'http://127.0.0.1:8545', solana: 'http://127.0.0.1:8899' }

type Asked = { readonly findings: readonly Finding[]; readonly head: number | undefined }

/** `chaintape init`: returns the exit code. */
export async function runInit(args: readonly string[]): Promise<number> {
  const options = { chain: TEXT, rpc: TEXT, out: TEXT }
  return runCommand({ name: 'init', usage: USAGE, options }, args, async ({ values, positionals }) => {
    if (positionals[0] !== undefined) throw new ArgumentError(`unexpected argument '${positionals[0]}'`)
    const { chain, rpc, out = 'chaintape.yaml' } = values
    const chains = shippedChains()
    if (chain === undefined) throw new ArgumentError(`--chain is missing: ${chains.join(', ')}`)
    if (!chains.includes(chain))
      throw new ArgumentError(
        `unknown chain '${chain}'${suggestion(chain, chains)} (docs/add-a-chain.md adds one)`,
      )
    if (existsSync(out)) throw new ArgumentError(`${out} exists; name another file with --out`)
    const urls = rpc?.split(',').map((url) => url.trim())
    const { family } = chainIn(parseConfig(textOf(chain, [EXAMPLE_NODES.evm], undefined), out), chain)
    const draft = parseConfig(textOf(chain, urls ?? [EXAMPLE_NODES[family]], undefined), out)
    hideSecrets(secretsOf(draft))
    const head = urls === undefined ? undefined : await askNodes(draft, chain)
    if (urls !== undefined && head === undefined)
      throw new ChaintapeError('node_unavailable', `no node of ${chain} can be used; ${out} was not written`)
    const text = textOf(chain, urls ?? [EXAMPLE_NODES[family]], head)
    parseConfig(text, out)
    // The URL of a node may hold a key.
    writeFileSync(out, text, { flag: 'wx', mode: 0o600 })
    note(`Wrote ${out}. Next:`)
    if (urls === undefined) note('  set rpc_urls to your node')
    note(`  chaintape doctor --config ${out}`)
    note(`  chaintape all --config ${out}`)
    note(`  chaintape keys create --name me --config ${out}`)
    return 0
  })
}

/** Prints what the nodes can do, and returns the newest block of the first one that can be used. */
async function askNodes(config: Config, name: string): Promise<number | undefined> {
  const chain = chainIn(config, name)
  const asked: Asked[] = await Promise.all(
    chain.rpc_urls.map((url, index) =>
      chain.family === 'evm'
        ? checkEvmNode(url, index, name, chain)
        : checkSolanaNode(url, index, name, chain),
    ),
  )
  for (const { about, level, text, advice } of asked.flatMap(({ findings }) => findings))
    note(scrub(`${level.padEnd(7)} ${about}: ${text}${advice === undefined ? '' : `\n        ${advice}`}`))
  return asked.find(({ head }) => head !== undefined)?.head
}

function chainIn({ chains }: Config, name: string): Config['chains'][string] {
  return chains[name] as Config['chains'][string]
}

function textOf(chain: string, urls: readonly string[], head: number | undefined): string {
  const values: Readonly<Record<string, string>> = {
    chain,
    CHAIN: chain.toUpperCase(),
    rpc_urls: stringify(urls, { collectionStyle: 'flow', lineWidth: 0 }).trim(),
    start_block: head === undefined ? '# start_block: 12345678' : `start_block: ${head}`,
  }
  return readFileSync(TEMPLATE, 'utf8').replaceAll(
    /\{(\w+)\}/g,
    (whole, name: string) => values[name] ?? whole,
  )
}
