import { randomBytes } from 'node:crypto'
import type { Config } from '../config/schema.ts'
import type { Reconciliation } from '../domain/reconciliation.ts'
import { ArgumentError } from '../lib/arguments.ts'
import { connectLogs } from '../log/connect.ts'
import { commonOfCommand, configOf, onlyArgument, requireChain, runCommand, TEXT } from './command.ts'
import { openParts } from './reconciler/open-parts.ts'
import { type RunOptions, reconcileChain, totalOf } from './reconciler/run.ts'

const USAGE = `usage: chaintape reconcile <chain> [options]

Folds archived blocks again, from a snapshot of the engine, and compares the result with ClickHouse and Redis; reads random
archived blocks from a node again and compares them. It changes nothing. The exit code is 1 if something differs: see
docs/operations.md.

  --from BLOCK       starts at the newest snapshot before this block, or at the first block; by default at the older snapshot
  --to BLOCK         by default the last archived block
  --node-blocks N    blocks to read from a node; by default 20
  --seed TEXT        chooses the same blocks again
  --config FILE      settings in YAML; CHAINTAPE_CONFIG is the same
`

const NODE_BLOCKS = 20

/** `chaintape reconcile ...`: returns the exit code. */
export async function runReconcile(args: readonly string[]): Promise<number> {
  const options = { from: TEXT, to: TEXT, 'node-blocks': TEXT, seed: TEXT }
  return runCommand({ name: 'reconcile', usage: USAGE, options }, args, async ({ values, positionals }) => {
    const chain = onlyArgument(positionals, 'missing chain')
    const range = {
      from: wholeNumber('--from', values.from),
      to: wholeNumber('--to', values.to),
      nodeBlocks: wholeNumber('--node-blocks', values['node-blocks']) ?? NODE_BLOCKS,
      seed: values.seed ?? randomBytes(4).toString('hex'),
    }
    const config = configOf(values)
    requireChain(config, chain)
    return reconcile(config, chain, range)
  })
}

function wholeNumber(option: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  if (!/^\d{1,15}$/.test(value)) throw new ArgumentError(`${option} must be a whole number`)
  return Number(value)
}

async function reconcile(
  config: Config,
  chain: string,
  options: Pick<RunOptions, 'from' | 'to' | 'nodeBlocks' | 'seed'>,
): Promise<number> {
  const common = commonOfCommand()
  const { shutdown } = common
  try {
    const logs = await connectLogs(config.nats, common)
    shutdown.onClose('log', () => logs.close())
    const opened = await openParts(config, logs, common)
    // A name of its own, because the role may use the other one at the same time.
    const parts = await opened.of(chain, `${chain}-${process.pid}`, common)
    const whole = { orFromStart: true, maxMessages: Number.POSITIVE_INFINITY, load: 1 }
    const found = await reconcileChain(parts, { ...options, ...whole })
    print(chain, options.seed, found)
    if (found.blocks === undefined && totalOf(found) === 0) {
      process.stderr.write('chaintape: nothing to compare: no block of this range is archived\n')
      return 1
    }
    return totalOf(found) === 0 ? 0 : 1
  } finally {
    await shutdown.finish()
  }
}

function print(chain: string, seed: string, found: Reconciliation): void {
  const { blocks, nodeBlocks, rows, documents, skipped, examples } = found
  for (const { kind, where, what, stored, computed } of examples) {
    process.stdout.write(`${kind}: ${where}: ${what}: stored ${stored}, computed ${computed}\n`)
  }
  const place = blocks === undefined ? 'no block' : `blocks ${blocks.from} to ${blocks.to}`
  const compared = `${rows} rows and ${documents} documents compared, ${skipped} documents skipped`
  const nodes = `${nodeBlocks} blocks of a node compared (--seed ${seed})`
  process.stdout.write(`${chain}: ${place}: ${compared}; ${nodes}; ${totalOf(found)} differences\n`)
}
