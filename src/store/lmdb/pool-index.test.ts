import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import type { FoundLaunch } from '../../domain/found-launch.ts'
import { openPoolIndex, type PoolIndex } from './pool-index.ts'

const dirs: string[] = []
after(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true })
})

function newDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'chaintape-pools-'))
  dirs.push(dir)
  return dir
}

const address = (digit: string): string => `0x${digit.repeat(40)}`
const [TOKEN, OTHER, FOUR, FLAP] = ['1', '2', 'a', 'b'].map(address) as [string, string, string, string]
const MAX = Number.MAX_SAFE_INTEGER

function found(factory: string, is: FoundLaunch['is'], block: number, log = 0, token = TOKEN): FoundLaunch {
  return { token, factory, is, block, log }
}

function add(index: PoolIndex, ...launches: readonly FoundLaunch[]): void {
  index.add([], new Map(), launches)
}

test('a launch has the first event of each kind, and is there after a restart', async () => {
  const dir = newDir()
  let index = openPoolIndex(dir)
  add(index, found(FOUR, 'graduated', 9), found(FOUR, 'graduated', 9, 1), found(FOUR, 'created', 5))
  add(index, found(FOUR, 'created', 5, 3), found(FOUR, 'graduated', 12))
  add(index, found(FLAP, 'created', MAX, MAX, OTHER))
  assert.equal(index.size, 0, 'it is no pool')
  await index.close()
  index = openPoolIndex(dir)
  assert.deepEqual(index.launchOf(TOKEN), { factory: FOUR, createdIn: 5, graduatedIn: 9 })
  assert.deepEqual(index.launchOf(OTHER), { factory: FLAP, createdIn: MAX, graduatedIn: undefined })
  assert.equal(index.launchOf(FOUR), undefined)
  await index.close()
})

test('of two platforms that claim a token, the one with the first event has it, whichever was scanned first', async () => {
  const all = [
    found(FOUR, 'created', 5, 2),
    found(FOUR, 'graduated', 20),
    found(FLAP, 'created', 5, 1),
    found(FLAP, 'graduated', 4, 7, OTHER),
    found(FOUR, 'created', 4, 8, OTHER),
  ]
  const index = openPoolIndex(newDir())
  fc.assert(
    fc.property(fc.shuffledSubarray(all, { minLength: all.length }), (events) => {
      const [token, other] = [fresh(), fresh()]
      for (const event of events) add(index, { ...event, token: event.token === TOKEN ? token : other })
      assert.deepEqual(index.launchOf(token), { factory: FLAP, createdIn: 5, graduatedIn: undefined })
      assert.deepEqual(index.launchOf(other), { factory: FLAP, createdIn: undefined, graduatedIn: 4 })
    }),
    { numRuns: 60 },
  )
  await index.close()
})

let lastToken = 0
function fresh(): string {
  return `0x3${(lastToken++).toString(16).padStart(39, '0')}`
}
