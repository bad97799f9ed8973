import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Hex, numberToHex, padHex } from 'viem'
import { waitFor } from '../support/rigs/wait-for.ts'
import { HOSTILE_CASES, type HostileCase, type Making, scripted } from '../support/tokens/hostile-corpus.ts'
import { EVENT_CASES, SUPPLY } from '../support/tokens/hostile-events.ts'
import { HostileWorld, type Row } from '../support/tokens/hostile-world.ts'

/** Tokens, pools and events that are made to break or to deceive, read by the whole pipeline. */

/** Nothing of this may be in what is shown: it cannot be seen, or changes how the rest is seen. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\ufffd]/u
const MAX_SHOWN = 64

let world: HostileWorld
const made = new Map<string, Hex>()

before(async () => {
  world = await HostileWorld.start()
  for (const { why, make } of HOSTILE_CASES) made.set(why, await world.make(make))
  for (const { why, make, prepare } of EVENT_CASES) {
    const token = make === undefined ? await world.make(plain()) : await make(world)
    await prepare?.(world, token)
    made.set(why, token)
  }
  await world.mine()
  // One block in four samples balances and compares them with the transfers.
  for (let block = 0; block < 24; block++) {
    for (const why of ['balances that are a lie', 'transfers that are a lie'])
      await world.market.transfer(madeOf(why), padHex('0x5a', { size: 20 }), 10n ** 18n)
    await world.mine()
  }
  const isNone = new Set(EVENT_CASES.flatMap(({ why, isNone }) => (isNone ? [why] : [])))
  await world.examine([...made].flatMap(([why, token]) => (isNone.has(why) ? [] : [token])))
})

after(() => world?.stop())

function madeOf(why: string): Hex {
  const token = made.get(why)
  assert.ok(token, why)
  return token
}

function plain(): Making {
  const name = padHex('0x45', { size: 32, dir: 'right' })
  const numbers = [18n, SUPPLY].map((value) => numberToHex(value, { size: 32 }))
  return { artifact: scripted('ScriptedToken'), args: [[name, name, ...numbers]], liquid: true }
}

function checkShown(shown: unknown): void {
  assert.equal(typeof shown, 'string')
  const text = String(shown)
  assert.ok(!UNSEEN.test(text) && text.isWellFormed() && [...text].length <= MAX_SHOWN, JSON.stringify(text))
  assert.equal(text, text.normalize('NFC').trim())
}

function checkFields(given: Row, wanted: Row = {}): void {
  for (const [name, value] of Object.entries(wanted)) assert.equal(given[name], value, name)
}

async function checkImpostor(token: Hex, symbol: 'USDT' | 'PEP'): Promise<void> {
  const genuine = symbol === 'USDT' ? world.scenario.stable : world.scenario.token
  const rows = await waitFor('the writer', async () => {
    const found = await world.get<Row[]>(`/v2/tokens?keyword=${symbol}&chain=local&limit=300`)
    return found.some((row) => row['token'] === token.toLowerCase()) ? found : undefined
  })
  const place = (address: Hex): number => rows.findIndex((row) => row['token'] === address.toLowerCase())
  assert.equal(rows[place(token)]?.['is_impostor'], true)
  assert.equal(rows[place(genuine)]?.['is_impostor'], false)
  assert.ok(place(genuine) < place(token))
}

async function checkCase({ why, expect }: HostileCase): Promise<void> {
  const token = madeOf(why)
  const [row, contract] = [await world.rowOf(token), await world.get(`/v2/contracts/${token}-local`)]
  for (const shown of [row['name'], row['symbol'], contract['token_name'], contract['token_symbol']])
    checkShown(shown)
  assert.deepEqual([row['name'], row['symbol']], [contract['token_name'], contract['token_symbol']])
  if (expect.name !== undefined) assert.equal(row['name'], expect.name)
  if (expect.symbol !== undefined) assert.equal(row['symbol'], expect.symbol)
  checkFields(row, expect.row)
  checkFields(contract, expect.contract)
  const factors = contract['risk_factors'] as { code: string; evidence: string[] }[]
  for (const code of expect.factors ?? [])
    assert.ok(
      factors.some((factor) => factor.code === code),
      `${code} is not among ${factors.map((factor) => factor.code)}`,
    )
  for (const evidence of factors.flatMap((factor) => factor.evidence)) {
    assert.ok(!UNSEEN.test(evidence) && evidence.length <= 200, evidence)
  }
  await world.get(`/v2/tokens/${token}-local`)
  await world.get(`/v2/tokens/top100/${token}-local`)
  if (expect.impostorOf !== undefined) await checkImpostor(token, expect.impostorOf)
}

describe('calls and transfers of hostile tokens', () => {
  for (const each of HOSTILE_CASES) test(each.why, () => checkCase(each))
})

describe('events about tokens and pools', () => {
  for (const { why, check } of EVENT_CASES) test(why, () => check(world, madeOf(why)))
})

test('all other tokens are traded and published as usual', async () => {
  const path = `/v2/pairs/${world.scenario.tokenPair}-local`
  const before = await world.get(path)
  await world.market.buyWithNative(world.scenario.token, 10n ** 16n)
  await world.mine()
  assert.equal((await world.get(path))['tx_24h_count'], Number(before['tx_24h_count']) + 1)
})

test('there are as many cases as required', () => {
  assert.ok(made.size >= 40)
  assert.equal(made.size, HOSTILE_CASES.length + EVENT_CASES.length, 'each has a name of its own')
})
