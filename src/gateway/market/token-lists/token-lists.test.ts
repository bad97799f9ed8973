import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { openTokenLists } from './token-lists.ts'

const folder = mkdtempSync(join(tmpdir(), 'token-lists-'))
const controller = new AbortController()
after(() => {
  controller.abort()
  rmSync(folder, { recursive: true })
})

const A = `0x${'a'.repeat(40)}`
const B = `0x${'b'.repeat(40)}`
const CHAINS = [{ chain: 'eth', family: 'evm', chainId: 1 }] as const

function write(name: string, ...tokens: object[]): string {
  const file = join(folder, name)
  writeFileSync(file, JSON.stringify({ tokens: tokens.map((token) => ({ chainId: 1, ...token })) }))
  return file
}

function open(sources: readonly string[], times: { refreshMs?: number; retryMs?: number } = {}) {
  const changes = { count: 0 }
  const lines: string[] = []
  const logger = pino({}, { write: (line) => void lines.push(line) })
  const opened = openTokenLists({
    ...{ sources, chains: CHAINS, logger, signal: controller.signal, ...times },
    onChange: () => void changes.count++,
  })
  return { opened, changes, lines }
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; !isTrue(); tries++) {
    assert.ok(tries < 500, 'waited too long')
    await sleep(10)
  }
}

test('several lists: the first logo counts, and an audit in any of them', async () => {
  const logo = (name: string): string => `https://pictures.example/${name}.png`
  const first = write('first.json', { address: A, tags: ['audited'] }, { address: B, logoURI: logo('b1') })
  const second = write(
    'second.json',
    { address: A, logoURI: logo('a2') },
    { address: B, logoURI: logo('b2') },
  )
  const { listingOf } = await open([first, second]).opened
  assert.deepEqual(listingOf('eth', A), { logoUrl: logo('a2'), isAudited: true })
  assert.deepEqual(listingOf('eth', B), { logoUrl: logo('b1'), isAudited: false })
  assert.deepEqual([listingOf('eth', `0x${'c'.repeat(40)}`), listingOf('bsc', A)], [undefined, undefined])
})

test('an unreadable list is logged and retried; meanwhile the others and its last version count', async () => {
  const good = write('good.json', { address: A })
  const late = join(folder, 'late.json')
  const { opened, changes, lines } = open([late, good], { refreshMs: 5, retryMs: 10 })
  const { listingOf } = await opened
  assert.ok(listingOf('eth', A) !== undefined && listingOf('eth', B) === undefined)
  assert.ok(lines.some((line) => line.includes('token_list_unreadable') && line.includes('late.json')))
  write('late.json', { address: B })
  await until(() => listingOf('eth', B) !== undefined)
  const read = changes.count
  writeFileSync(late, 'no list any more')
  lines.length = 0
  await until(() => lines.some((line) => line.includes('the list is not valid JSON')))
  assert.ok(listingOf('eth', B) !== undefined)
  assert.ok(read >= 2)
})
