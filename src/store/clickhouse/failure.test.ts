import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClickHouseError } from '@clickhouse/client'
import { guardClickhouse } from './failure.ts'

const failWith = (type: string, message: string): Promise<void> =>
  guardClickhouse(() => Promise.reject(new ClickHouseError({ code: '1', type, message })))

test('a full disk is an unavailable server, whatever its code', async () => {
  const errors: readonly (readonly [string, string])[] = [
    ['NOT_ENOUGH_SPACE', 'Cannot reserve 1.00 MiB, not enough space.'],
    [
      'CANNOT_OPEN_FILE',
      'Cannot open file tmp_insert_1_1_0/time.bin, errno: 28, strerror: No space left on device.',
    ],
    ['POCO_EXCEPTION', 'File access error: no space left on device: tmp_insert_1_1_0'],
  ]
  for (const [type, message] of errors)
    await assert.rejects(failWith(type, message), { code: 'store_unavailable' })
})

test('an error of the request itself is passed on', async () => {
  await assert.rejects(
    failWith('CANNOT_OPEN_FILE', 'Cannot open file, strerror: Permission denied.'),
    ClickHouseError,
  )
  await assert.rejects(failWith('CORRUPTED_DATA', 'Empty marks file'), ClickHouseError)
})
