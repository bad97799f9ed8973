import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { Pipeline } from '../support/rigs/pipeline.ts'
import { SmallDisk } from '../support/rigs/small-disk.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { Drill } from './drill.ts'

/** docs/operations.md, "Full disks": each server has a small file system of its own, which is filled and emptied. */

const MEGABYTES = 96
const LOOK_MS = 100
const root = mkdtempSync(join(tmpdir(), 'chaintape-full-'))
const dataDir = join(root, 'stack')
const disks = new Map<string, SmallDisk>()
const canMount = tryMount(join(root, 'try'))
let stack: Stack
let drill: Drill
let pipeline: Pipeline

/** False if this machine does not permit it. */
function tryMount(folder: string): boolean {
  const disk = SmallDisk.mount(folder, MEGABYTES)
  if (disk !== undefined) disks.set(folder, disk)
  return disk !== undefined
}

before(async () => {
  if (!canMount) return
  for (const folder of ['nats', 'clickhouse']) tryMount(join(dataDir, folder))
  stack = await startStack({ dataDir, anvil: ['--no-mining', '--timestamp', '1750000000'] })
  drill = await Drill.deploy(stack.rpcUrl)
  pipeline = new Pipeline(stack, 'full', { finality_depth: 5 }, { snapshots: { every_seconds: 1 } })
  for (const role of ['engine', 'reader']) tryMount(join(pipeline.dir, 'data', role))
  await pipeline.start('reader', 'engine', 'writer', 'gateway')
  await drill.trade(20)
  await drill.caughtUp(pipeline)
})

after(async () => {
  await pipeline?.stop('SIGKILL').catch(() => undefined)
  await stack?.stop()
  for (const disk of disks.values()) disk.unmount()
  if (pipeline !== undefined) rmSync(pipeline.dir, { recursive: true, force: true })
  rmSync(root, { recursive: true, force: true })
})

const options = { skip: canMount ? false : 'needs the permission to mount a file system' }

type Row = {
  readonly what: string
  readonly folder: () => string
  /** What the operator sees. A state that fits into the pages that it has grows no further, and has none. */
  readonly sign?: () => Promise<unknown>
  /** What the operator does once there is room. */
  readonly heal?: () => Promise<void>
}

const rows: readonly Row[] = [
  {
    what: 'NATS',
    folder: () => join(dataDir, 'nats'),
    sign: () => pipeline.role('reader').logged('Publish failed; retrying'),
  },
  {
    what: 'ClickHouse',
    folder: () => join(dataDir, 'clickhouse'),
    sign: () =>
      waitFor('the writer to report it', async () => ((await isReady('writer')) ? undefined : true)),
    heal: async () => {
      // The messages that could not be written are not at fault.
      assert.deepEqual(pipeline.role('writer').linesOf('Chain stopped by a fault; retrying'), [])
      await stack.restart('clickhouse')
    },
  },
  { what: 'LMDB of the engine', folder: () => join(pipeline.dir, 'data/engine') },
  { what: 'LMDB of the reader', folder: () => join(pipeline.dir, 'data/reader') },
]

async function isReady(role: 'writer'): Promise<boolean> {
  const { admin_port } = await pipeline.role(role).logged('Admin server listening')
  return (await fetch(`http://127.0.0.1:${admin_port}/readyz`)).ok
}

for (const { what, folder, sign, heal } of rows) {
  test(
    `${what} full: what is stored is served, and all is caught up once there is room`,
    options,
    async (t) => {
      const disk = disks.get(folder())
      assert.ok(disk)
      disk.fill()
      const trading = trade(sign)
      await sign?.()
      for (const path of drill.paths) assert.equal((await pipeline.get(path)).status, 200)
      await trading
      disk.empty()
      await heal?.()
      const startedAt = performance.now()
      const caughtUp = drill.caughtUp(pipeline)
      let isCaughtUp = false
      const done = (): void => {
        isCaughtUp = true
      }
      caughtUp.then(done, done)
      // LMDB may abort its process when a write fails, also later; a service manager starts it again.
      while (!isCaughtUp) {
        for (const role of ['reader', 'engine'] as const) {
          if (pipeline.role(role).isRunning) continue
          t.diagnostic(`${role} was aborted by LMDB`)
          await pipeline.start(role)
        }
        await sleep(LOOK_MS)
      }
      await caughtUp
      t.diagnostic(`caught up ${Math.round(performance.now() - startedAt)} ms after there was room`)
      for (const role of ['reader', 'engine', 'writer', 'gateway'] as const)
        assert.ok(pipeline.role(role).isRunning, `${role} exited`)
    },
  )
}

/** Blocks come until the full disk shows. */
async function trade(sign: (() => Promise<unknown>) | undefined): Promise<void> {
  let isSeen = sign === undefined
  void sign?.().finally(() => {
    isSeen = true
  })
  await drill.trade(30)
  while (!isSeen) await drill.trade(1)
}
