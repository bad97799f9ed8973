import assert from 'node:assert/strict'
import { type Behaviour, isDescending, mixedCase, type TokenRow } from './behaviour.ts'
import type { Names } from './world.ts'

type Detail = {
  readonly data: { readonly is_audited: boolean; readonly token: { readonly logo_url: string } }
}

const CONTRACT_FLAGS = [
  ...['is_honeypot', 'is_proxy', 'has_mint_method', 'has_black_method', 'transfer_pausable'],
  ...['slippage_modifiable', 'can_take_back_ownership', 'hidden_owner', 'selfdestruct', 'external_call'],
]

const UNKNOWN = `0x${'1'.repeat(40)}-local`
const NOT_SERVED = `0x${'1'.repeat(40)}-tron`

/** Operations that answer about tokens that are named. */
export const TOKEN_BEHAVIOURS: readonly Behaviour[] = [
  {
    operation: 'token prices',
    name: 'by default a token below 1000 dollars of TVL is left out; so is one that is unknown, or of a chain that is not served',
    given: { token_ids: ['$token', NOT_SERVED, '$idle', '$tiny', UNKNOWN] },
    check: (body, names) => hasKeys(body, names, ['token', 'idle']),
  },
  {
    operation: 'token prices',
    name: 'tvl_min 0 is no threshold',
    given: { token_ids: ['$token', '$idle', '$tiny', UNKNOWN], tvl_min: 0 },
    check: (body, names) => hasKeys(body, names, ['token', 'idle', 'tiny']),
  },
  {
    operation: 'token prices',
    name: 'tvl_min in dollars',
    given: { token_ids: ['$token', '$idle'], tvl_min: 100_000 },
    check: (body, names) => hasKeys(body, names, ['token']),
  },
  {
    operation: 'token prices',
    name: 'tx_24h_volume_min leaves out what was not traded for as much',
    given: { token_ids: ['$token', '$idle', '$beans/3'], tx_24h_volume_min: 1_000 },
    check: (body, names) => hasKeys(body, names, ['token']),
  },
  {
    operation: 'token prices',
    name: 'quote assets have TVL and volume over all their pools, so the default thresholds keep them',
    given: { token_ids: ['$stable', '$native'] },
    check: (body: Record<string, { tvl: string; tx_volume_u_24h: string }>, names) => {
      hasKeys(body, names, ['stable', 'native'])
      for (const { tvl, tx_volume_u_24h } of Object.values(body)) {
        assert.ok(Number(tvl) > 1_000)
        assert.ok(Number(tx_volume_u_24h) > 0)
      }
    },
  },
  {
    operation: 'token prices',
    name: 'an id in any case, and twice, is answered once, in lower case',
    given: { token_ids: ['$token', '$native'] },
    check: async (body, names, again) => {
      const mixed = [names.token, names.native].map((address) => `${mixedCase(address)}-local`)
      assert.deepEqual(await again({ token_ids: [...mixed, ...mixed] }), body)
    },
  },
  ...['token prices', 'token batch'].map(
    (operation): Behaviour => ({
      operation,
      name: 'of chains that are not served alone, nothing is left',
      given: { token_ids: [NOT_SERVED] },
      check: (body) => assert.deepEqual(body, {}),
    }),
  ),
  {
    operation: 'token batch',
    name: 'a row for each known id; unknown ones, and those of chains that are not served, are left out',
    given: { token_ids: [NOT_SERVED, '$token', '$idle', '$tiny', '$native', '$stable', UNKNOWN] },
    check: (body, names) => hasKeys(body, names, ['token', 'idle', 'tiny', 'native', 'stable']),
  },
  {
    operation: 'token detail',
    name: 'the five pairs with the highest TVL',
    given: { 'token-id': '$native' },
    check: ({ data: { pairs } }: { data: { pairs: TokenRow[] } }) => {
      assert.equal(pairs.length, 5)
      isDescending(pairs, 'tvl')
    },
  },
  {
    operation: 'token detail',
    name: 'in any case',
    given: { 'token-id': '$token' },
    check: async (body, names, again) =>
      assert.deepEqual(await again({ 'token-id': `${mixedCase(names.token)}-local` }), body),
  },
  {
    operation: 'token detail',
    name: 'logo and audit, as the configured list says',
    given: { 'token-id': '$token' },
    check: async ({ data }: Detail, names, again) => {
      const { data: other } = (await again({ 'token-id': '$idle' })) as Detail
      const logo = (address: string): string => `https://pictures.example/${address}.png`
      assert.deepEqual([data.is_audited, data.token.logo_url], [true, logo(names.token)])
      assert.deepEqual([other.is_audited, other.token.logo_url], [false, logo(names.idle)])
    },
  },
  {
    operation: 'token detail',
    name: 'one that was never traded',
    given: { 'token-id': '$idle' },
    check: ({ data }: { data: { pairs: TokenRow[] } }) => {
      assert.deepEqual(
        data.pairs.map(({ price_change, volume_u }) => [price_change, volume_u]),
        [['', '']],
      )
    },
  },
  {
    operation: 'contract',
    name: 'a plain token raises no alarm; being on a token list is shown',
    given: { 'token-id': '$token' },
    knowledge: 'full',
    check: (body: TokenRow & { token_holders_rank: TokenRow[] }, names) => {
      const raised = CONTRACT_FLAGS.filter((name) => body[name] !== 0)
      assert.deepEqual(raised, [])
      assert.deepEqual([body['buy_tax'], body['sell_tax'], body['transfer_tax']], ['0', '0', '0'])
      assert.equal(body['risk_level'], 1)
      const pools = body.token_holders_rank.filter(({ is_lp }) => is_lp === 1)
      assert.deepEqual(
        pools.map(({ address, mark, is_contract }) => [address, mark, is_contract]),
        [[names.pair, 'pool', 1]],
      )
    },
  },
  {
    operation: 'top holders',
    name: 'largest first, each with its part of the supply',
    given: { 'token-id': '$token' },
    knowledge: 'full',
    check: async (all: TokenRow[], _names, again) => {
      isDescending(all, 'amount_cur')
      isDescending(all, 'balance_ratio')
      isDescending(all, 'balance_usd')
      assert.ok(all.every(({ holder, address }) => holder === address))
      const parts = all.reduce((sum, { balance_ratio }) => sum + Number(balance_ratio), 0)
      assert.ok(Math.abs(parts - 1) < 1e-9, `all of them hold ${parts} of it`)
      assert.deepEqual(await again({ 'token-id': '$token', limit: 1 }), all.slice(0, 1))
    },
  },
]

function hasKeys(body: object, names: Names, wanted: readonly (keyof Names)[]): void {
  assert.deepEqual(Object.keys(body).sort(), wanted.map((name) => `${names[name]}-local`).sort())
}
