import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTokenList, pictureUrl } from './parse-token-list.ts'

const CHAINS = [
  { chain: 'eth', family: 'evm', chainId: 1 },
  { chain: 'bsc', family: 'evm', chainId: 56 },
] as const

const A = `0x${'a'.repeat(40)}`
const B = `0x${'b'.repeat(40)}`
const LOGO = 'https://pictures.example/a.png'

function parse(tokens: unknown) {
  const listings = parseTokenList(JSON.stringify({ name: 'Test', tokens }), CHAINS)
  return Object.fromEntries([...listings].map(([chain, ofChain]) => [chain, Object.fromEntries(ofChain)]))
}

test('a token list: by chain and address, with pictures and the tag for audits', () => {
  const entry = { name: 'A', symbol: 'A', decimals: 18 }
  assert.deepEqual(
    parse([
      {
        ...entry,
        chainId: 1,
        address: A.toUpperCase().replace('0X', '0x'),
        logoURI: LOGO,
        tags: ['stablecoin'],
      },
      { ...entry, chainId: 1, address: B, tags: ['audited', 'other'] },
      { ...entry, chainId: 56, address: A, logoURI: 'ipfs://QmHash/a.png' },
      { ...entry, chainId: 10, address: A, logoURI: LOGO },
    ]),
    {
      eth: { [A]: { logoUrl: LOGO, isAudited: false }, [B]: { logoUrl: undefined, isAudited: true } },
      bsc: { [A]: { logoUrl: 'ipfs://QmHash/a.png', isAudited: false } },
    },
  )
})

test('addresses of Solana keep their case, and another case is another token', () => {
  const chains = [{ chain: 'solana', family: 'solana', chainId: 101 }] as const
  const address = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
  const entries = [
    { chainId: 101, address, logoURI: LOGO },
    { chainId: 101, address: address.toLowerCase(), logoURI: LOGO },
    { chainId: 101, address: A, logoURI: LOGO },
  ]
  const listings = parseTokenList(JSON.stringify({ tokens: entries }), chains).get('solana')
  assert.deepEqual(listings?.get(address), { logoUrl: LOGO, isAudited: false })
  assert.equal(listings?.has(A), false)
})

test('entries that make no sense are left out, the others stay', () => {
  const wrong = [
    null,
    5,
    'x',
    [],
    {},
    { chainId: 1 },
    { chainId: 1, address: 7 },
    { chainId: 1, address: '0x1' },
  ]
  const strange = { chainId: 1, address: A, logoURI: 7, tags: 'audited' }
  assert.deepEqual(parse([...wrong, { chainId: '1', address: B }, strange]), {
    eth: { [A]: { logoUrl: undefined, isAudited: false } },
    bsc: {},
  })
})

test('invalid token lists are refused', () => {
  for (const text of ['', '{', 'null', '[]', '{}', '{"tokens":{}}', '<html>'])
    assert.throws(() => parseTokenList(text, CHAINS), { code: 'token_list_unreadable' }, text)
})

test('a picture is an address that a client can be sent to, or none', () => {
  const good = [LOGO, 'ipfs://QmHash', 'https://[2001:db8::1]/a.svg?x=1#y']
  assert.deepEqual(good.map(pictureUrl), good)
  assert.equal(
    pictureUrl('https://pictures.example/a"><script>'),
    'https://pictures.example/a%22%3E%3Cscript%3E',
  )
  const bad = [
    ...[
      'http://pictures.example/a.png',
      'data:image/png;base64,AAAA',
      'javascript:alert(1)',
      'file:///etc/passwd',
    ],
    ...[
      '',
      'a.png',
      '//pictures.example/a.png',
      'https://',
      'ipfs:QmHash',
      'https://user:word@pictures.example/a.png',
    ],
    ...[
      `https://pictures.example/${'a'.repeat(500)}`,
      'blob:https://pictures.example/1',
      undefined,
      null,
      {},
    ],
  ]
  for (const given of bad) assert.equal(pictureUrl(given), undefined, String(given))
})
