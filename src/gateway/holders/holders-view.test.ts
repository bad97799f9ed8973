import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { createHoldersView } from './holders-view.ts'

test('what is fresh when accounts are asked for does not become too old meanwhile', async () => {
  let time = 0
  const view = createHoldersView({
    view: { recent: () => assert.fail('no holders are asked for') },
    history: { topHolders: () => assert.fail('no holders are asked for') },
    logs: {
      ask: async (_, question) => {
        time += 10
        return question
          .split(' ')
          .map(() => '7')
          .join(' ')
      },
    },
    logger: pino({ level: 'silent' }),
    now: () => time,
  })
  const [first, second] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`]
  await view.accounts('eth', [first])
  time = 30_005
  const account = { balanceRaw: 7n, isContract: false }
  assert.deepEqual(await view.accounts('eth', [first, second]), [account, account])
})
