import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { FIRST_LINK, frameChecksum, splitMessage } from '../../wire/frame.ts'
import { openOutbox } from './outbox.ts'

const root = mkdtempSync(join(tmpdir(), 'chaintape-outbox-'))
after(() => rmSync(root, { recursive: true, force: true }))

/** Linked frames of about 100 bytes each. */
function frames(count: number, fill: string): Uint8Array[] {
  let link = FIRST_LINK
  return Array.from({ length: count }, () => {
    const [frame = new Uint8Array()] = splitMessage(Buffer.alloc(90, fill), link, 1_000)
    link = frameChecksum(frame)
    return frame
  })
}

async function retained(dir: string, epoch: string, last: number): Promise<(number | undefined)[]> {
  const outbox = openOutbox(dir)
  try {
    return Array.from({ length: last }, (_, at) => {
      const frame = outbox.get(epoch, at + 1)
      return frame && frameChecksum(frame)
    })
  } finally {
    await outbox.close()
  }
}

test('retains the latest frames of one log across a restart, up to its limit', async () => {
  const dir = join(root, 'limit')
  const sent = frames(20, 'a')
  const outbox = openOutbox(dir, 1_050)
  for (const [at, frame] of sent.entries()) outbox.add('one', at + 1, frame)
  await outbox.flushed()
  assert.deepEqual(outbox.get('one', 20), Buffer.from(sent[19] ?? []))
  await outbox.close()
  const found = await retained(dir, 'one', 20)
  const recent = found.filter((each) => each !== undefined)
  assert.ok(recent.length > 5 && recent.length <= 10, `${recent.length} are retained`)
  assert.deepEqual(recent, sent.slice(-recent.length).map(frameChecksum))
  assert.deepEqual(found.slice(0, 20 - recent.length).filter(Boolean), [], 'the oldest are evicted')
  assert.deepEqual((await retained(dir, 'two', 20)).filter(Boolean), [])
})

test('a frame at an existing position replaces it and all later ones; the same frame changes nothing', async () => {
  const dir = join(root, 'replace')
  const [sent, others] = [frames(10, 'a'), frames(10, 'b')]
  const outbox = openOutbox(dir)
  for (const [at, frame] of sent.entries()) outbox.add('one', at + 1, frame)
  outbox.add('one', 3, sent[2] ?? new Uint8Array())
  await outbox.flushed()
  assert.ok(outbox.get('one', 10))
  outbox.add('one', 5, others[4] ?? new Uint8Array())
  await outbox.close()
  const expected = [...sent.slice(0, 4), others[4] ?? new Uint8Array()].map(frameChecksum)
  assert.deepEqual(await retained(dir, 'one', 10), [...expected, ...Array(5).fill(undefined)])
})

test('frames after a gap, or of another log, replace all', async () => {
  const dir = join(root, 'gap')
  const sent = frames(10, 'a')
  const outbox = openOutbox(dir)
  for (const [at, frame] of sent.slice(0, 3).entries()) outbox.add('one', at + 1, frame)
  outbox.add('one', 7, sent[6] ?? new Uint8Array())
  await outbox.flushed()
  assert.deepEqual([outbox.get('one', 3), outbox.get('one', 7)?.length], [undefined, sent[6]?.length])
  outbox.add('two', 8, sent[7] ?? new Uint8Array())
  await outbox.close()
  assert.deepEqual((await retained(dir, 'one', 10)).filter(Boolean), [])
  assert.equal((await retained(dir, 'two', 8)).filter(Boolean).length, 1)
})
