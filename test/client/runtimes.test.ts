import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, globSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { after, afterEach, before, describe, test } from 'node:test'
import { API_KEY } from '../support/rigs/gateway-world.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { type BlockMarket, PAIR } from './block-market.ts'
import { ClientWorld } from './client-world.ts'
import type { CutProxy } from './cut-proxy.ts'
import { swapsLeft } from './storm-stream.ts'

/** The built client in the runtimes that it promises: REST, history, then live, across cuts and forks. */

const REPO = resolve(import.meta.dirname, '../..')
const PACKAGE = join(REPO, 'clients/typescript')
const INSTALLED = process.env['TEST_RUNTIMES'] ?? join(REPO, 'dev/.tools/runtimes/node_modules')
const RUNTIMES = [
  { name: 'Node 20', program: 'node-linux-*/bin/node', args: [] },
  { name: 'Bun', program: '@oven/bun-linux-*/bin/bun', args: ['run'] },
  { name: 'Deno', program: '@deno/linux-*/deno', args: ['run', '--allow-all', '--node-modules-dir=manual'] },
].map(({ name, program, args }) => ({ name, args, command: globSync(join(INSTALLED, program))[0] }))

const missing = RUNTIMES.filter(({ command }) => command === undefined).map(({ name }) => name)
if (missing.length > 0)
  console.log(
    `NOTICE: the client is not tested in ${missing.join(', ')}: bash dev/setup installs what there is`,
  )

const PROGRAM = `
import { createClient, isRetraction } from '@chaintape/client'
import { fileCursors } from '@chaintape/client/node'
import process from 'node:process'

const { GATEWAY: url, KEY: key, PAIR: pair } = process.env
const sockets = typeof WebSocket === 'undefined' ? { WebSocket: (await import('ws')).WebSocket } : {}
const client = createClient({ url, key, cursors: fileCursors('cursors.json'), ...sockets })
const { meta } = await client.rest.pairDetail(pair).withMeta()
if (!(meta.cuCost > 0)) throw new Error('cost: ' + meta.cuCost)
for await (const item of client.trades(pair, { from: 0, retractions: true }))
  console.log(isRetraction(item) ? '-' + item.retracted.join() : item.id)
`

describe('the client in other runtimes', { skip: missing.length === RUNTIMES.length }, () => {
  let world: ClientWorld
  let market: BlockMarket
  let proxy: CutProxy
  let project: string
  let child: ChildProcess | undefined

  before(async () => {
    project = mkdtempSync(join(tmpdir(), 'chaintape-runtimes-'))
    const installed = join(project, 'node_modules/@chaintape/client')
    mkdirSync(installed, { recursive: true })
    copyFileSync(join(PACKAGE, 'package.json'), join(installed, 'package.json'))
    const compiler = join(REPO, 'node_modules/typescript/bin/tsc')
    const config = join(PACKAGE, 'tsconfig.build.json')
    execFileSync(process.execPath, [compiler, '-p', config, '--outDir', join(installed, 'dist')])
    symlinkSync(join(REPO, 'node_modules/ws'), join(project, 'node_modules/ws'))
    // Deno resolves only what is listed here.
    const dependencies = { '@chaintape/client': '*', ws: '*' }
    writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module', dependencies }))
    writeFileSync(join(project, 'program.mjs'), PROGRAM)
    world = await ClientWorld.start(60)
    market = world.market
    proxy = world.proxy
  })

  afterEach(async () => {
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    rmSync(join(project, 'cursors.json'), { force: true })
  })

  after(async () => {
    await world?.stop()
    rmSync(project, { recursive: true, force: true })
  })

  for (const { name, command, args } of RUNTIMES) {
    test(name, { skip: command === undefined }, async () => {
      const items: string[] = []
      let errors = ''
      const own = spawn(command ?? '', [...args, 'program.mjs'], {
        cwd: project,
        env: { PATH: process.env['PATH'], HOME: project, GATEWAY: proxy.url, KEY: API_KEY, PAIR },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      child = own
      createInterface({ input: own.stdout }).on('line', (line) => items.push(line))
      own.stderr.on('data', (text) => {
        errors += String(text)
      })
      const untilCanonical = async (): Promise<void> => {
        const expected = market.ids().join()
        await waitFor('the canonical list', () => {
          assert.ok(own.exitCode === null && own.signalCode === null, `it ended: ${errors}`)
          return swapsLeft(items).join() === expected ? true : undefined
        })
      }
      await untilCanonical()
      for (let round = 0; round < 2; round++) {
        await market.grow(10)
        proxy.cutAll()
        await market.fork(20, 22)
        await untilCanonical()
      }
    })
  }
})
