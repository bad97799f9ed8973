import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  account,
  keyBytes,
  METAPLEX,
  metadataExtension,
  metaplexMetadata,
  splMint,
  token2022Mint,
} from '../../../../test/support/builders/account-data.ts'
import {
  allSolanaTransactions,
  hasSolanaRecordings,
} from '../../../../test/support/recorded/recorded-solana.ts'
import { base58Of } from '../../../../test/support/rigs/solana-ledger.ts'
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../dex/solana/known-keys.ts'
import { base58Text } from '../../../domain/base58.ts'
import { type Mint, readMint } from './mint-account.ts'
import { programAddress } from './program-address.ts'
import { metadataAddress, metadataOf } from './token-metadata.ts'

const MINT = base58Of('mint')
const AUTHORITY = base58Of('authority')
const METADATA = 19
const plain = readMint(splMint()) as Mint
const shown = (found: ReturnType<typeof metadataOf>) =>
  found && [Buffer.from(found.name).toString(), Buffer.from(found.symbol).toString(), found.isMutable]

describe('the address of an account that a program derives', () => {
  test('is that of the metadata of USDC', () => {
    const usdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
    assert.equal(metadataAddress(usdc), '5x38Kp4hvdomTCnCrAny4UtMUt5rQBdB6px2K1Ui45Wq')
    assert.equal(metadataAddress('no address'), undefined)
  })

  test('is that of most token accounts in recorded transactions', { skip: !hasSolanaRecordings }, () => {
    const program = keyBytes('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')
    const accounts = new Map<string, boolean>()
    for (const { transaction } of allSolanaTransactions()) {
      for (const { account: at, mint, owner, program: token } of transaction.postTokenBalances) {
        const key = transaction.keys[at]
        if (owner === undefined || token === undefined || key === undefined || accounts.size >= 300) continue
        const derived = programAddress([keyBytes(owner), keyBytes(token), keyBytes(mint)], program)
        accounts.set(base58Text(key, 0), derived !== undefined && Buffer.compare(derived, key) === 0)
      }
    }
    const matching = [...accounts.values()].filter(Boolean).length
    assert.ok(matching > 100, `${matching} of ${accounts.size}`)
  })
})

describe('a mint', () => {
  test('of either token program', () => {
    const content = { supply: 2n ** 64n - 1n, decimals: 9, mintAuthority: AUTHORITY }
    const expected = {
      supplyRaw: 2n ** 64n - 1n,
      decimals: 9,
      mintAuthority: AUTHORITY,
      freezeAuthority: undefined,
    }
    const nothing = { extensions: new Map(), isCut: false }
    assert.deepEqual(readMint(splMint(content)), { isToken2022: false, ...expected, ...nothing })
    assert.deepEqual(readMint(token2022Mint(content)), { isToken2022: true, ...expected, ...nothing })
    const extended = readMint(token2022Mint(content, [[12, keyBytes(AUTHORITY)]]))
    assert.deepEqual(extended?.extensions, new Map([[12, keyBytes(AUTHORITY)]]))
  })

  test('is refused if it is none', () => {
    const { data } = splMint()
    const refused = {
      'of another program': account(SYSTEM_PROGRAM, data),
      empty: account(TOKEN_PROGRAM, new Uint8Array()),
      'too short': account(TOKEN_PROGRAM, data.subarray(0, 81)),
      'a token account': account(TOKEN_PROGRAM, Buffer.alloc(165, 1)),
      'a token account of Token-2022': account(
        TOKEN_2022_PROGRAM,
        Buffer.concat([Buffer.alloc(165), Buffer.of(2)]),
      ),
      'a multisig': account(TOKEN_PROGRAM, Buffer.alloc(355, 1)),
      'not initialized': splMint({ isInitialized: false }),
    }
    for (const [name, each] of Object.entries(refused)) assert.equal(readMint(each), undefined, name)
  })

  test('whose extensions claim any length', () => {
    const whole = token2022Mint({}, [
      [12, keyBytes(AUTHORITY)],
      [METADATA, Buffer.alloc(9_000, 65)],
    ])
    const cut = readMint({ ...whole, data: whole.data.subarray(0, 4_096) })
    assert.equal(cut?.isCut, true)
    assert.deepEqual(cut?.extensions.get(12), keyBytes(AUTHORITY))
    const huge = Buffer.from(whole.data)
    huge.writeUInt16LE(0xffff, 168)
    assert.equal(readMint({ ...whole, data: huge })?.extensions.size, 1)
  })
})

describe('metadata', () => {
  const about = { mint: MINT, name: 'Bonk', symbol: 'BONK' }

  test('is without the padding of Metaplex', () => {
    assert.deepEqual(shown(metadataOf(MINT, plain, metaplexMetadata(about))), ['Bonk', 'BONK', true])
    const fixed = metaplexMetadata({ ...about, isMutable: false, creators: 5 })
    assert.deepEqual(shown(metadataOf(MINT, plain, fixed)), ['Bonk', 'BONK', false])
  })

  test('of the mint itself wins', () => {
    const value = metadataExtension({ ...about, name: 'Own', symbol: 'OWN' })
    const mint = readMint(token2022Mint({}, [[METADATA, value]])) as Mint
    assert.deepEqual(shown(metadataOf(MINT, mint, metaplexMetadata(about))), ['Own', 'OWN', false])
    const governed = metadataExtension({ ...about, authority: AUTHORITY })
    const other = readMint(token2022Mint({}, [[METADATA, governed]])) as Mint
    assert.deepEqual(shown(metadataOf(MINT, other, undefined)), ['Bonk', 'BONK', true])
  })

  test('of another mint or program is not taken', () => {
    const foreign = metaplexMetadata({ ...about, mint: AUTHORITY })
    assert.equal(metadataOf(MINT, plain, foreign), undefined)
    assert.equal(metadataOf(MINT, plain, account(SYSTEM_PROGRAM, metaplexMetadata(about).data)), undefined)
    const value = metadataExtension({ ...about, mint: AUTHORITY })
    const mint = readMint(token2022Mint({}, [[METADATA, value]])) as Mint
    assert.deepEqual(shown(metadataOf(MINT, mint, metaplexMetadata(about))), ['Bonk', 'BONK', true])
  })

  test('with a length beyond its account is not taken', () => {
    const { data } = metaplexMetadata(about)
    for (const length of [0xffff_ffff, 680, 4_000_000]) {
      const longer = Buffer.from(data)
      longer.writeUInt32LE(length, 65)
      assert.equal(metadataOf(MINT, plain, account(METAPLEX, longer)), undefined)
    }
    for (let size = 0; size < 120; size++)
      assert.doesNotThrow(() => metadataOf(MINT, plain, account(METAPLEX, data.subarray(0, size))))
  })

  test('of a long name is cut', () => {
    const value = metadataExtension({ ...about, name: 'x'.repeat(3_000) })
    const mint = readMint(token2022Mint({}, [[METADATA, value]])) as Mint
    assert.equal(metadataOf(MINT, mint, undefined)?.name.length, 1_024)
  })
})

test('any bytes are read or refused, without a throw', () => {
  const owner = fc.constantFrom(TOKEN_PROGRAM, TOKEN_2022_PROGRAM, METAPLEX)
  const { data: whole } = token2022Mint({}, [
    [METADATA, metadataExtension({ mint: MINT, name: 'a', symbol: 'b' })],
  ])
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 400 }),
    fc.tuple(fc.nat(whole.length - 1), fc.nat(255)).map(([at, value]) => {
      const changed = Uint8Array.from(whole)
      changed[at] = value
      return changed
    }),
  )
  fc.assert(
    fc.property(owner, bytes, (program, data) => {
      const mint = readMint(account(program, data))
      const found = metadataOf(MINT, mint ?? plain, account(METAPLEX, data))
      assert.ok((found?.name.length ?? 0) <= 1_024)
    }),
    { numRuns: 500 },
  )
})
