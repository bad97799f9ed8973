import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  NO_WINDOWS,
  sampleToken,
  sampleWindows,
  value,
} from '../../../../test/support/builders/market-samples.ts'
import { lettersOf, looksOf } from '../../../domain/search-text.ts'
import type { TokenView } from '../../shape/token-row.ts'
import { keysOf, matchOf, nameKeysOf, parseKeyword } from './keyword-match.ts'
import {
  type RankedMatch,
  rankMatches,
  searchedToken,
  TOKEN_ORDERS,
  type TokenOrder,
} from './rank-matches.ts'

type TokenSpec = {
  readonly symbol: string
  readonly name?: string
  readonly chain?: string
  readonly tvl?: number | undefined
  readonly fdv?: number
  readonly volume?: number
  readonly isListed?: boolean
}

let tokenCount = 0

function viewOf({
  symbol,
  name = '',
  chain = 'eth',
  tvl,
  fdv = 1,
  volume,
  isListed = false,
}: TokenSpec): TokenView {
  const address = `0x${(++tokenCount).toString(16).padStart(40, '0')}`
  const dollars = (known: number | undefined) => (known === undefined ? undefined : value(String(known)))
  const windows = sampleWindows()
  const lengths = windows.lengths.map((sums) => ({ ...sums, buyUsd: dollars(volume) ?? 0n, sellUsd: 0n }))
  const figures = { mainPairTvlUsd: dollars(tvl), fdvUsd: dollars(fdv), marketCapUsd: dollars(fdv) }
  return {
    chain,
    token: sampleToken({ address, symbol, name, ...figures }),
    windows: { ...NO_WINDOWS, windows: volume === undefined ? undefined : { ...windows, lengths } },
    hasLockers: true,
    listing: isListed ? { logoUrl: undefined, isAudited: false } : undefined,
  }
}

type Ranked = Pick<RankedMatch, 'isImpostor'> & { readonly view: TokenView }

function ranked(typed: string, views: readonly TokenView[], order: TokenOrder, main?: TokenView): Ranked[] {
  const byAddress = new Map(views.map((view) => [view.token.address, view]))
  const found = rankMatches(views.map(searchedToken), {
    ...{ keyword: parseKeyword(typed), order },
    isMain: ({ address }) => address === main?.token.address,
  })
  return found.map(({ token: { address }, isImpostor }) => ({
    view: byAddress.get(address) as TokenView,
    isImpostor,
  }))
}

function rank(
  typed: string,
  views: readonly TokenView[],
  order: TokenOrder = 'fdv',
  main?: TokenView,
): string[] {
  return ranked(typed, views, order, main).map(
    ({ view, isImpostor }) => `${view.token.symbol}${isImpostor ? '!' : ''}`,
  )
}

test('class and distance of a match, by symbol and name', () => {
  const match = (typed: string, symbol: string, name = ''): string => {
    const found = matchOf(parseKeyword(typed), keysOf(symbol), nameKeysOf(name))
    return found === undefined ? 'not' : `${found.class}.${found.distance}`
  }
  assert.equal(match('PEPE', 'PEPE'), '0.0')
  assert.equal(match('pepe', 'PEPE'), '0.1')
  assert.equal(match('pepe', 'РЕРЕ'), '0.2')
  assert.equal(match('РЕРЕ', 'PEPE'), '0.2')
  assert.equal(match('pep', 'PEPE'), '1.0')
  assert.equal(match('pep', 'РЕРЕ'), '1.1')
  assert.equal(match('uniswap', 'UNI', 'Uniswap'), '2.0')
  assert.equal(match('unisw', 'UNI', 'Uniswap'), '2.1')
  assert.equal(match('inu', 'SHIB', 'Shiba Inu'), '2.2')
  assert.equal(match('sh', 'X', 'Shiba Inu'), 'not')
  assert.equal(match('bit', 'BLT', 'Blt'), 'not')
  assert.equal(match('L1NK', 'LINK'), '0.2')
  assert.equal(match('link', '$L\u0406NK'), '0.2')
  assert.equal(match('EPE', 'PEPE', 'Pepe'), 'not')
})

describe('the genuine token', () => {
  test('has the main pair with the highest TVL, regardless of volume and FDV', () => {
    const views = [
      viewOf({ symbol: 'PEPE', tvl: 10, fdv: 900, volume: 900 }),
      viewOf({ symbol: 'РЕРЕ', tvl: 9, fdv: 950 }),
    ]
    views.push(viewOf({ symbol: 'pepe', tvl: 11 }))
    for (const order of TOKEN_ORDERS) assert.equal(rank('PEPE', views, order)[0], 'pepe', order)
    assert.deepEqual(rank('PEPE', views), ['pepe', 'PEPE!', 'РЕРЕ!'])
  })

  test('is the one in the config, then in a token list, even without a pair', () => {
    const main = viewOf({ symbol: 'USDT' })
    const listed = viewOf({ symbol: 'USDT', isListed: true, tvl: 5 })
    const fake = viewOf({ symbol: '\u054dSDT', tvl: 10 ** 9, volume: 10 ** 9, fdv: 10 ** 9 })
    assert.deepEqual(rank('usdt', [fake, listed, main], 'main_pair_tvl', main), [
      'USDT',
      'USDT!',
      '\u054dSDT!',
    ])
    assert.deepEqual(rank('us', [fake, listed], 'main_pair_tvl'), ['USDT', '\u054dSDT!'])
  })

  test('is chosen per chain', () => {
    const views = [viewOf({ symbol: 'AI', tvl: 10 }), viewOf({ symbol: 'AI', tvl: 5, fdv: 7, chain: 'bsc' })]
    assert.deepEqual(rank('ai', views), ['AI', 'AI'])
  })

  test('does not exist among equals, and is unknown if only names match', () => {
    const views = [viewOf({ symbol: 'X', name: 'Great' }), viewOf({ symbol: 'X', name: 'Great' })]
    assert.deepEqual(
      ranked('great', views, 'fdv').map(({ isImpostor }) => isImpostor),
      [undefined, undefined],
    )
    assert.deepEqual(rank('x', views), ['X', 'X'])
  })
})

test('unknown values come last in every order, and addresses break ties', () => {
  const views = [
    viewOf({ symbol: 'AB' }),
    viewOf({ symbol: 'AC', tvl: 0, volume: 0 }),
    viewOf({ symbol: 'AD', tvl: 3, volume: 3 }),
  ]
  assert.deepEqual(rank('a', views, 'main_pair_tvl'), ['AD', 'AC', 'AB'])
  assert.deepEqual(rank('a', views, 'tx_volume_u_24h'), ['AD', 'AC', 'AB'])
  assert.deepEqual(rank('a', views, 'fdv'), ['AB', 'AC', 'AD'])
})

const texts = ['LINK', 'LlNK', 'link', 'llnk', 'L1NK', '$LINK', 'LINKS', 'Link', 'LІNK', 'LIN', 'X']
const token = fc.record({
  symbol: fc.constantFrom(...texts),
  name: fc.constantFrom(...texts, 'Chain LINK', 'Links of all'),
  chain: fc.constantFrom('eth', 'bsc'),
  tvl: fc.option(fc.nat(5), { nil: undefined }),
  fdv: fc.nat(100),
  volume: fc.nat(100),
  isListed: fc.boolean(),
})
const cases = fc.record({
  typed: fc.constantFrom(...texts, 'l', 'li', 'lin'),
  order: fc.constantFrom(...TOKEN_ORDERS),
  tokens: fc.array(token, { maxLength: 15 }),
})

test('no impostor comes before the token it imitates, in any order', () => {
  fc.assert(
    fc.property(cases, ({ typed, order, tokens }) => {
      const all = tokens.map(viewOf)
      const found = ranked(typed, all, order)
      const standing = ({ listing, token }: TokenView): bigint =>
        listing ? value('1000000') : (token.mainPairTvlUsd ?? -1n)
      for (const [at, { view, isImpostor }] of found.entries()) {
        const genuine = [lettersOf, looksOf].flatMap((keyOf) => {
          const alike = all.filter(
            (other) => other.chain === view.chain && keyOf(other.token.symbol) === keyOf(view.token.symbol),
          )
          const isHighest = (view: TokenView) => alike.every((other) => standing(other) <= standing(view))
          return isHighest(view) ? [] : alike.filter(isHighest)
        })
        assert.equal(isImpostor === true, genuine.length > 0)
        const places = genuine.map((other) => found.findIndex((each) => each.view === other))
        assert.ok(
          places.every((place) => place < at),
          `${view.token.symbol} comes before the genuine token`,
        )
      }
    }),
    { numRuns: 2_000 },
  )
})
