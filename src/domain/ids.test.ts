import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  chainName,
  evmAddress,
  evmHash,
  solanaAddress,
  text,
} from '../../test/support/arbitraries/value-arbitraries.ts'
import {
  type ChainFamily,
  formatChainAddress,
  isChainName,
  normaliseAddress,
  parseChainAddress,
} from './ids.ts'

const anyEvm = () => 'evm' as const
const anySolana = () => 'solana' as const
const families = new Map<string, ChainFamily>([
  ['eth', 'evm'],
  ['solana', 'solana'],
])
const familyOf = (chain: string) => families.get(chain)

test('an EVM id is normalized to lower case', () => {
  fc.assert(
    fc.property(evmAddress, chainName, fc.func(fc.boolean()), (address, chain, isUpper) => {
      const shouted = [...address].map((letter, at) => (isUpper(at) ? letter.toUpperCase() : letter)).join('')
      for (const kind of ['token', 'pair'] as const) {
        assert.deepEqual(parseChainAddress(formatChainAddress(shouted, chain), kind, anyEvm), {
          address,
          chain,
        })
      }
    }),
  )
})

test('a Solana id is returned unchanged, because case matters', () => {
  fc.assert(
    fc.property(solanaAddress, chainName, (address, chain) => {
      assert.deepEqual(parseChainAddress(formatChainAddress(address, chain), 'token', anySolana), {
        address,
        chain,
      })
    }),
  )
  const address = 'So11111111111111111111111111111111111111112'
  assert.equal(normaliseAddress('solana', 'token', address), address)
  // 'l' and 'O' are not base58 digits, so changing the case makes the address malformed.
  assert.equal(normaliseAddress('solana', 'token', address.toUpperCase()), undefined)
})

test('base58 text of other than 32 bytes is no Solana id', () => {
  const address = 'So11111111111111111111111111111111111111112'
  const others = [
    '1'.repeat(31),
    '1'.repeat(33),
    'z'.repeat(44),
    'z'.repeat(32),
    `1${address}`,
    address.slice(1),
    '',
  ]
  for (const other of others) assert.equal(normaliseAddress('solana', 'token', other), undefined, other)
  assert.equal(normaliseAddress('solana', 'pair', '1'.repeat(32)), '1'.repeat(32))
})

test('a 32-byte pool id is a valid pair, but not a valid token', () => {
  fc.assert(
    fc.property(evmHash, (pool) => {
      assert.equal(normaliseAddress('evm', 'pair', pool), pool)
      assert.equal(normaliseAddress('evm', 'token', pool), undefined)
    }),
  )
})

test('the chain name follows the last hyphen', () => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 4 }), chainName, (pieces, chain) => {
      const asked: string[] = []
      parseChainAddress(`${['a', ...pieces].join('-')}-${chain}`, 'token', (name) => {
        asked.push(name)
        return undefined
      })
      assert.deepEqual(asked, [chain])
    }),
  )
})

test('parsing any id returns a normalized id or a problem', () => {
  const anything = fc.oneof(
    text,
    fc
      .tuple(fc.oneof(text, evmAddress, solanaAddress), fc.constantFrom('eth', 'solana', 'other'))
      .map((both) => both.join('-')),
  )
  fc.assert(
    fc.property(anything, fc.constantFrom('token' as const, 'pair' as const), (id, kind) => {
      const parsed = parseChainAddress(id, kind, familyOf)
      if (typeof parsed === 'string') return
      assert.deepEqual(
        parseChainAddress(formatChainAddress(parsed.address, parsed.chain), kind, familyOf),
        parsed,
      )
    }),
  )
})

const evm = `0x${'ab'.repeat(20)}`
const hostile: [id: string, expected: ReturnType<typeof parseChainAddress>][] = [
  ['', 'malformed_id'],
  ['-', 'malformed_id'],
  ['-eth', 'malformed_id'],
  ['eth', 'malformed_id'],
  [evm, 'malformed_id'],
  [`${evm}-`, 'malformed_id'],
  [`${evm}-ETH`, 'malformed_id'],
  [`${evm}-eth\n`, 'malformed_id'],
  [`${evm}\n-eth`, 'malformed_id'],
  [` ${evm}-eth`, 'malformed_id'],
  [`${evm}0-eth`, 'malformed_id'],
  [`${evm}-x-eth`, 'malformed_id'],
  [`-${evm}-eth`, 'malformed_id'],
  ['__proto__-eth', 'malformed_id'],
  ['constructor-eth', 'malformed_id'],
  [`${evm}-__proto__`, 'malformed_id'],
  [`${evm}-constructor`, 'unknown_chain'],
  [`${evm}-base`, 'unknown_chain'],
  [`0x${'\uff41\uff42'.repeat(20)}-eth`, 'malformed_id'],
  [`${'0'.repeat(32)}-solana`, 'malformed_id'],
  [`${'1'.repeat(31)}-solana`, 'malformed_id'],
  [`${'1'.repeat(45)}-solana`, 'malformed_id'],
  [`${evm}-solana`, 'malformed_id'],
  [`${'1'.repeat(32)}-eth`, 'malformed_id'],
  [`${'-'.repeat(1_000_000)}eth`, 'malformed_id'],
  [`0x${'ab'.repeat(1_000_000)}-eth`, 'malformed_id'],
  [`${evm}-${'e'.repeat(1_000_000)}`, 'malformed_id'],
  [`0X${'AB'.repeat(20)}-eth`, { address: evm, chain: 'eth' }],
]

test('hostile ids are refused', () => {
  for (const [id, expected] of hostile) {
    assert.deepEqual(parseChainAddress(id, 'token', familyOf), expected, JSON.stringify(id.slice(0, 80)))
  }
})

test('a chain name is lower case with at most 32 letters, digits and underscores', () => {
  assert.deepEqual(
    ['a', 'eth', 'bsc_2', 'a'.repeat(32)].filter((name) => !isChainName(name)),
    [],
  )
  assert.deepEqual(
    ['', '1a', '_a', 'Eth', 'a-b', 'a.b', 'a/b', 'é', 'a\n', 'a'.repeat(33)].filter(isChainName),
    [],
  )
})
