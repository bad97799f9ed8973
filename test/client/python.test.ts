import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { API_KEY } from '../support/rigs/gateway-world.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { type BlockMarket, PAIR } from './block-market.ts'
import { ClientWorld } from './client-world.ts'
import type { CutProxy } from './cut-proxy.ts'

/** The Python example: every swap once, across cuts, forks and its own restarts. */

const PROGRAM = resolve(import.meta.dirname, '../../examples/python/chaintape.py')
const MAX_LINES = 150
const HISTORY = 60

const python = ['python3', '/usr/bin/python3'].find(
  (command) => spawnSync(command, ['-c', 'import websockets']).status === 0,
)
if (python === undefined)
  console.log('NOTICE: no Python with websockets; its test is skipped (apt-get install python3-websockets)')

test(`it has less than ${MAX_LINES} lines`, () => {
  assert.ok(readFileSync(PROGRAM, 'utf8').trimEnd().split('\n').length < MAX_LINES)
})

describe('the Python example', { skip: python === undefined }, () => {
  let world: ClientWorld
  let market: BlockMarket
  let proxy: CutProxy
  let folder: string
  let child: ChildProcess | undefined
  const lines: string[] = []
  let errors = ''

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'chaintape-python-'))
    world = await ClientWorld.start(HISTORY)
    market = world.market
    proxy = world.proxy
  })

  after(async () => {
    await stop()
    await world?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  function start(): void {
    child = spawn(python ?? '', [PROGRAM], {
      env: { ...process.env, URL: proxy.url, KEY: API_KEY, PAIR, CURSOR_FILE: join(folder, 'cursor.txt') },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => lines.push(line))
    child.stderr?.on('data', (text) => {
      errors += String(text)
    })
  }

  async function stop(): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }

  /** The swaps that are left of what it printed. */
  function left(): string[] {
    const ids: string[] = []
    for (const line of lines) {
      const [first = '', ...rest] = line.split(' ')
      if (first !== 'retracted') ids.push(first)
      else for (const id of rest) ids.splice(ids.lastIndexOf(id), 1)
    }
    return ids
  }

  async function untilCanonical(): Promise<void> {
    const expected = market.ids().join()
    await waitFor('the canonical list', () => {
      assert.ok(child?.exitCode === null, `it ended: ${errors}`)
      return left().join() === expected ? true : undefined
    })
  }

  test('history, then live, across cuts and forks', async () => {
    start()
    await untilCanonical()
    for (let round = 0; round < 3; round++) {
      await market.grow(20)
      proxy.cutAll()
      await market.fork(10, 15)
      await untilCanonical()
    }
    assert.ok(proxy.cuts > 0)
  })

  test('it continues where it was killed', async () => {
    for (let round = 0; round < 2; round++) {
      // Its last line is printed before the cursor is stored: two equal looks at the file mean that it rests.
      let stored = ''
      await waitFor('the cursor to be stored', () => {
        const now = readFileSync(join(folder, 'cursor.txt'), 'utf8')
        const isResting = now === stored
        stored = now
        return isResting ? true : undefined
      })
      await stop()
      await market.grow(10)
      await market.fork(5, 6)
      start()
      await untilCanonical()
    }
  })
})
