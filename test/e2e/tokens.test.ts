import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@clickhouse/client'
import { formatUnits, type Hex } from 'viem'
import type { ContractFlag } from '../../src/domain/inspection.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { type ExpectedFindings, INSPECTED_TOKENS } from '../support/tokens/inspected-tokens.ts'
import { DEAD, type ExpectedHolding, ExpectedHoldings } from './expected-holdings.ts'
import { amountValue, decimal, value } from './expected-numbers.ts'
import { LOCKER, NAME, type Row, TokensRun } from './tokens-run.ts'

const TRANSFERS_PER_BLOCK = 32
/** Before each fork and after the last; where time is short, a dozen will do. */
const BLOCKS = Number(process.env['CHAINTAPE_TOKEN_BLOCKS'] ?? 32)
const FORKS = [4, 7]
/** While there is no reader. */
const BLOCKS_UNREAD = 12
/** The gateway asks for a new report when the last one is older than this. */
const HOUR = 3_600
/** A tenth of a percent point. */
const TOLERANCE = 0.001

const FLAG_FIELDS: Readonly<Record<ContractFlag, string>> = {
  mint: 'has_mint_method',
  blacklist: 'has_black_method',
  pause: 'transfer_pausable',
  setFees: 'slippage_modifiable',
  takeBackOwnership: 'can_take_back_ownership',
  hiddenOwner: 'hidden_owner',
  selfdestruct: 'selfdestruct',
  callsOutInTransfer: 'external_call',
}
const POWER_CODES: Readonly<Record<ContractFlag, string>> = {
  mint: 'mint',
  blacklist: 'blacklist',
  pause: 'pause',
  setFees: 'set_fees',
  takeBackOwnership: 'take_back_ownership',
  hiddenOwner: 'hidden_owner',
  selfdestruct: 'selfdestruct',
  callsOutInTransfer: 'calls_out_in_transfer',
}

let run: TokensRun

before(async () => {
  run = await TokensRun.start()
  await run.openAll()
})

after(() => run?.stop())

function codesOf(contract: Row): string[] {
  return (contract['risk_factors'] as { code: string }[]).map(({ code }) => code).sort()
}

/** Waits until all that was found out about a contract is of this block or a later one. */
async function checkedSince(token: Hex, block: number): Promise<Row> {
  return run.mineUntil(`the examination of ${token} since ${block}`, async () => {
    const contract = await run.contractOf(token)
    return Number(contract['checked_at_block'] ?? -1) >= block ? contract : undefined
  })
}

/** All operations return the same values of a token. */
async function checkRow(token: Hex, contract: Row): Promise<void> {
  const { body } = await run.pipeline.post('/v2/tokens/search', { token_ids: [`${token}-local`] })
  const [batched] = Object.values(body as Record<string, Row>)
  for (const row of [await run.rowOf(token), batched]) {
    assert.deepEqual(
      [row?.['risk_score'], row?.['is_honeypot'], row?.['is_mintable']],
      [contract['risk_score'], contract['is_honeypot'], contract['has_mint_method']],
    )
  }
}

function checkTax(
  contract: Row,
  name: string,
  expected: number | string | undefined,
  reported?: number,
): void {
  const wanted = typeof expected === 'string' ? reported : (expected ?? 0)
  if (wanted === undefined) return
  const tax = Number(contract[name])
  assert.ok(Math.abs(tax - wanted / 1e6) < TOLERANCE, `${name} is ${contract[name]}, not ${wanted / 1e6}`)
}

function checkFindings(contract: Row, expected: ExpectedFindings): void {
  assert.equal(contract['is_honeypot'], typeof expected.sell === 'string' ? 1 : 0)
  for (const [flag, field] of Object.entries(FLAG_FIELDS)) {
    const isSet = expected.flags?.includes(flag as ContractFlag) ?? false
    assert.equal(contract[field], Number(isSet), field)
  }
  checkTax(contract, 'buy_tax', expected.buy)
  checkTax(contract, 'transfer_tax', expected.transfer)
  checkTax(contract, 'sell_tax', expected.sell, expected.sellTax)
  const owners = { deployer: run.market.owner.toLowerCase(), zero: `0x${'0'.repeat(40)}` }
  assert.equal(contract['owner'], expected.owner && owners[expected.owner])
}

/** Results of trade and code: holders depend on what has been read by then. */
function expectedCodes({ flags = [], buy, transfer, sell, sellTax }: ExpectedFindings, isProxy: boolean) {
  const tax = (code: string, ppm: number | string | undefined) => (Number(ppm) >= 1_000 ? [code] : [])
  return [
    ...(typeof sell === 'string' ? ['honeypot'] : []),
    ...(typeof transfer === 'string' ? ['cannot_be_transferred'] : []),
    ...tax('buy_tax', buy),
    ...tax('transfer_tax', transfer),
    ...tax('sell_tax', typeof sell === 'string' ? sellTax : sell),
    ...flags.map((flag) => POWER_CODES[flag]),
    ...(isProxy ? ['proxy'] : []),
  ]
}

/** By ClickHouse, all that are there. */
async function storedBalances(token: Hex): Promise<Map<string, bigint>> {
  const client = createClient({ url: run.stack.clickhouseUrl, database: NAME })
  const query = `SELECT holder, toString(amount_raw) AS amount FROM balances FINAL WHERE token = '${token.toLowerCase()}'`
  try {
    const rows = await (await client.query({ query, format: 'JSONEachRow' })).json<{
      holder: string
      amount: string
    }>()
    return new Map(rows.map(({ holder, amount }) => [holder, BigInt(amount)]))
  } finally {
    await client.close()
  }
}

/** What the chain itself says. */
async function holdingsOf(tokens: readonly Hex[]): Promise<ExpectedHolding[]> {
  const { number } = await run.market.head()
  const addresses = tokens.map((token) => token.toLowerCase())
  const all = await ExpectedHoldings.read(run.market, addresses, number, [LOCKER])
  return addresses.map((address) => {
    const holding = all.of(address)
    assert.ok(holding, address)
    return holding
  })
}

/** Every balance in the store is the one that the token itself answers; the writer may be a batch behind. */
async function checkBalances(tokens: readonly Hex[]): Promise<void> {
  const lines = (balances: Iterable<readonly [string, bigint]>): string[] =>
    Array.from(balances, ([holder, amount]) => `${holder} ${amount}`).sort()
  for (const [index, { holders }] of (await holdingsOf(tokens)).entries()) {
    const token = tokens[index] as Hex
    const wanted = lines(holders.map(({ holder, raw }) => [holder, raw] as const))
    let stored: string[] = []
    await waitFor('the writer', async () => {
      stored = lines(await storedBalances(token))
      return stored.join() === wanted.join() ? true : undefined
    }).catch(() => assert.deepEqual(stored, wanted, token))
  }
}

test('a contract that was not examined yet has no verdict', async () => {
  const token = await run.open('PlainToken', [], 'Late')
  const contract = await run.contractOf(token)
  assert.equal(contract['is_honeypot'], -1)
  for (const name of ['risk_score', 'risk_factors', 'risk_level', 'checked_at_block', 'buy_tax', 'is_proxy'])
    assert.ok(!(name in contract), name)
  const row = await run.rowOf(token)
  assert.equal(row['is_honeypot'], -1)
  assert.ok(!('risk_score' in row) && !('is_mintable' in row))
})

describe('inspection soon after the discovery of a token', () => {
  for (const [name, expected] of Object.entries(INSPECTED_TOKENS)) {
    test(name, async () => {
      const contract = await checkedSince(run.tokenOf(name), 0)
      checkFindings(contract, expected)
      assert.equal(contract['is_proxy'], Number(name === 'ProxyToken'))
    })
  }
})

test('a proxy is inspected again after its Upgraded event', async () => {
  const token = run.tokenOf('ProxyToken')
  const before = await run.contractOf(token)
  await run.upgrade()
  const { number } = await run.market.head()
  const contract = await checkedSince(token, number)
  assert.deepEqual(
    [before['is_honeypot'], before['has_mint_method'], contract['is_honeypot'], contract['has_mint_method']],
    [0, 0, 1, 1],
  )
  assert.deepEqual([contract['risk_score'], contract['risk_level'], contract['is_proxy']], [100, -1, 1])
  await checkRow(token, contract)
})

test('if a fork undoes that, and not the change, it is examined once more', async () => {
  const token = run.tokenOf('ProxyToken')
  const { checked_at_block } = await run.contractOf(token)
  const { number } = await run.market.head()
  await run.market.reorganise(number - Number(checked_at_block))
  await run.caughtUp()
  const contract = await checkedSince(token, Number(checked_at_block))
  assert.deepEqual([contract['is_honeypot'], contract['has_mint_method']], [1, 1])
})

test('names that are made to break or to deceive are shown clean', async () => {
  const names = async (token: string) => {
    const { token_name, token_symbol, decimal: decimals } = await run.contractOf(run.tokenOf(token))
    return [token_name, token_symbol, decimals]
  }
  assert.deepEqual(await names('Bytes32Token'), ['Maker', 'MKR', 18])
  assert.deepEqual(await names('HostileToken'), ['', 'CDSU', 18])
})

test('thousands of transfers, two forks and a killed reader: every balance equals balanceOf', async () => {
  const busy = run.tokenOf('BusyToken')
  const mined = async (blocks: number, mine = () => run.mine()) => {
    for (let block = 0; block < blocks; block++) {
      await run.moveMany(TRANSFERS_PER_BLOCK)
      await mine()
    }
  }
  for (const depth of FORKS) {
    await mined(BLOCKS)
    await run.market.reorganise(depth)
    await run.caughtUp()
  }
  await mined(BLOCKS)
  await run.pipeline.role('reader').kill('SIGKILL')
  await mined(BLOCKS_UNREAD, () => run.mineUnread())
  await run.pipeline.start('reader')
  await run.caughtUp()
  await mined(2)
  const { market, scenario } = run
  const others = [...Object.keys(INSPECTED_TOKENS), 'Late'].map((name) => run.tokenOf(name))
  const pair = await market.pairOf(busy, market.weth)
  await checkBalances([busy, pair, ...others, market.weth, scenario.stable, scenario.token])
})

test('the numbers made of them agree with the chain', async () => {
  const busy = run.tokenOf('BusyToken')
  const [holding] = await holdingsOf([busy])
  assert.ok(holding)
  const { holders, supply, burned, locked, circulating } = holding
  assert.ok(holders.some(({ holder }) => holder === DEAD[0]) && locked > 0n && holders.length > 5 * BLOCKS)
  const row = await run.rowOf(busy)
  assert.deepEqual(
    [row['holders'], row['total'], row['burn_amount'], row['lock_amount']],
    [holders.length, formatUnits(supply, 9), formatUnits(burned, 9), formatUnits(locked, 9)],
  )
  const [whole = '', fraction = ''] = String(row['current_price_usd']).split('.')
  const price = BigInt(`${whole}${fraction.padEnd(40, '0')}`)
  assert.deepEqual(
    [row['market_cap'], row['fdv']],
    [value(amountValue(circulating, 9, price)), value(amountValue(supply, 9, price))],
  )
  const { body, headers } = await run.pipeline.get(`/v2/tokens/top100/${busy}-local`)
  assert.equal(headers.get('X-Holders-Complete'), 'true')
  const rows = body as Row[]
  assert.deepEqual(
    rows.map(({ main_coin_balance: _, ...rest }) => rest),
    holders.slice(0, 100).map(({ holder, raw }) => ({
      ...{ holder, address: holder, amount_cur: Number(formatUnits(raw, 9)) },
      balance_ratio: Number(decimal((raw * 10n ** 18n) / supply, 18)),
      balance_usd: Number(value(amountValue(raw, 9, price))),
    })),
  )
  for (const [index, { main_coin_balance }] of rows.entries()) {
    const coins = Number(formatUnits(holders[index]?.nativeRaw ?? 0n, 18))
    // It may be half a minute old, and the account that pays all gas has less by then.
    assert.ok(Math.abs(Number(main_coin_balance) - coins) < 1, `${main_coin_balance} instead of ${coins}`)
  }
})

test('a token whose balances move by themselves has unknown holders', async () => {
  const token = run.tokenOf('RebasingToken')
  const [holding] = await holdingsOf([token])
  assert.equal((await run.rowOf(token))['holders'], holding?.holders.length)
  await run.call('RebasingToken', 'rebase', 93n)
  await run.mineUntil('a balance that transfers do not explain', async () => {
    if (!('holders' in (await run.rowOf(token)))) return true
    await run.market.transfer(token, LOCKER, 10n ** 18n)
    return undefined
  })
  const row = await run.rowOf(token)
  for (const name of ['holders', 'market_cap', 'burn_amount', 'lock_amount']) assert.ok(!(name in row), name)
  const { headers } = await run.pipeline.get(`/v2/tokens/top100/${token}-local`)
  assert.equal(headers.get('X-Holders-Complete'), 'false')
})

test('a report older than an hour is renewed on request, with the current holders', async () => {
  await run.mine(HOUR + 1)
  const { number } = await run.market.head()
  for (const name of [...Object.keys(INSPECTED_TOKENS), 'Late']) await run.contractOf(run.tokenOf(name))
  for (const [name, expected] of Object.entries({ ...INSPECTED_TOKENS, Late: {} })) {
    const contract = await checkedSince(run.tokenOf(name), number)
    const isUpgraded = name === 'ProxyToken'
    const found: ExpectedFindings = isUpgraded ? { sell: 'upgraded', flags: ['mint'] } : expected
    checkFindings(contract, found)
    const isPlain = name === 'PlainToken' || name === 'Late'
    const held = isPlain ? [] : ['creator_share', 'large_holders', 'liquidity_not_locked']
    const holding = name === 'RebasingToken' ? ['liquidity_not_locked', 'odd_balances'] : held
    assert.deepEqual(codesOf(contract), [...expectedCodes(found, isUpgraded), ...holding].sort(), name)
    const factors = contract['risk_factors'] as { points: number; evidence: string[] }[]
    assert.ok(factors.every(({ evidence }) => evidence.length > 0))
    const points = Math.min(
      100,
      factors.reduce((sum, factor) => sum + factor.points, 0),
    )
    assert.equal(contract['risk_score'], points)
    assert.equal(contract['risk_level'], points >= 60 ? -1 : 0)
    if (isPlain) assert.equal(points, 0)
    await checkRow(run.tokenOf(name), contract)
  }
})

test('main tokens are listed', async () => {
  for (const token of [run.market.weth, run.scenario.stable]) {
    assert.equal((await run.contractOf(token))['risk_level'], 1)
  }
})
