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
import { NOTHING_COMMITTED } from '../../../../test/support/rigs/memory-state.ts'
import { base58Of, SolanaLedger } from '../../../../test/support/rigs/solana-ledger.ts'
import { createTestCommon } from '../../../../test/support/rigs/test-common.ts'
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../dex/solana/known-keys.ts'
import type { InspectionFact } from '../../../domain/envelope.ts'
import { type Findings, MAX_FINDING_LENGTH, MAX_FINDINGS } from '../../../domain/inspection.ts'
import { expectEncodable } from '../../../wire/fact-codec.ts'
import { Inspections } from '../../inspections.ts'
import { ReaderIndex } from '../../reader-index.ts'
import type { Account } from '../account.ts'
import { readMint } from '../facts/mint-account.ts'
import { metadataAddress } from '../facts/token-metadata.ts'
import { createSolanaSource } from '../source.ts'
import { solanaInspector } from './inspector.ts'
import { CLOCK } from './transfer-fee.ts'

const MINT = base58Of('mint')
const [ANN, BEN] = ['ann', 'ben'].map(base58Of) as [string, string]
const ZERO = Buffer.alloc(32)
const WITHOUT_SIMULATION = {
  poolsOf: () => [],
  isSimulating: false,
  logger: createTestCommon().logger,
}

async function world(mint: Account | undefined) {
  const ledger = new SolanaLedger(1_000)
  ledger.chain.mine(3)
  if (mint !== undefined) ledger.accounts.set(MINT, mint)
  const head = await createSolanaSource(ledger.nodes(), { logsOf: () => [] }).head()
  return { ledger, head, inspect: () => solanaInspector(ledger.nodes(), WITHOUT_SIMULATION)(MINT, head) }
}

async function findingsOf(mint: Account): Promise<Partial<Findings>> {
  const { inspect } = await world(mint)
  const inspection = await inspect()
  expectEncodable({ type: 'inspection', address: MINT, inspection })
  return Object.fromEntries(Object.entries(inspection.findings).filter(([, evidence]) => evidence.length > 0))
}

function feeConfig(authority: Buffer, older: number, newer: number): Buffer {
  const fee = (points: number) => Buffer.concat([Buffer.alloc(16), Buffer.of(points & 0xff, points >> 8)])
  return Buffer.concat([authority, ZERO, Buffer.alloc(8), fee(older), fee(newer)])
}

describe('a mint', () => {
  test('without authorities can do nothing to its holders', async () => {
    assert.deepEqual(await findingsOf(splMint()), {})
    assert.deepEqual(await findingsOf(token2022Mint()), {})
  })

  test('with authorities', async () => {
    const authorities = { mintAuthority: ANN, freezeAuthority: BEN }
    const expected = { mint: [`mint authority ${ANN}`], blacklist: [`freeze authority ${BEN}`] }
    assert.deepEqual(await findingsOf(splMint(authorities)), expected)
    assert.deepEqual(await findingsOf(token2022Mint(authorities)), expected)
  })

  test('with extensions', async () => {
    const extended = token2022Mint({}, [
      [1, feeConfig(keyBytes(ANN), 500, 900)],
      [6, Buffer.of(2)],
      [9, Buffer.alloc(0)],
      [12, keyBytes(BEN)],
      [14, Buffer.concat([keyBytes(ANN), keyBytes(BEN)])],
      [26, Buffer.concat([keyBytes(ANN), Buffer.of(1)])],
    ])
    assert.deepEqual(await findingsOf(extended), {
      blacklist: [`permanent delegate ${BEN}`, 'new accounts are frozen'],
      pause: [`pause authority ${ANN}`, 'paused', 'not transferable'],
      setFees: [`transfer fee authority ${ANN}`, 'transfer fee of 500, later 900 basis points'],
      callsOutInTransfer: [`transfer hook authority ${ANN}`, `transfer hook program ${BEN}`],
    })
  })

  test('with extensions that nobody can use', async () => {
    const harmless = token2022Mint({}, [
      [1, feeConfig(ZERO, 0, 0)],
      [6, Buffer.of(1)],
      [12, ZERO],
      [14, Buffer.concat([ZERO, ZERO])],
      [26, Buffer.concat([ZERO, Buffer.of(0)])],
    ])
    assert.deepEqual(await findingsOf(harmless), {})
  })

  test('behind metadata of any size', async () => {
    const value = metadataExtension({ mint: MINT, name: 'n'.repeat(9_000), symbol: 'N' })
    const found = await findingsOf(
      token2022Mint({}, [
        [12, keyBytes(BEN)],
        [19, value],
      ]),
    )
    assert.deepEqual(found, { blacklist: [`permanent delegate ${BEN}`] })
  })

  test('of which extensions may be hidden has no result', async () => {
    const hidden = token2022Mint({}, [
      [99, Buffer.alloc(9_000, 1)],
      [12, keyBytes(BEN)],
    ])
    const { inspect } = await world(hidden)
    await assert.rejects(inspect(), /too many extensions/)
  })
})

describe('metadata', () => {
  const about = { mint: MINT, name: 'Name', symbol: 'N' }
  const place = metadataAddress(MINT) as string

  async function powersOf(mint: Account, metadata?: Account) {
    const { ledger, inspect } = await world(mint)
    if (metadata !== undefined) ledger.accounts.set(place, metadata)
    const inspection = await inspect()
    expectEncodable({ type: 'inspection', address: MINT, inspection })
    return inspection.metadataPowers
  }

  test('of Metaplex can be changed while it is mutable and someone can sign', async () => {
    const byAnn = [`metadata update authority ${ANN}`]
    assert.deepEqual(await powersOf(splMint(), metaplexMetadata({ ...about, authority: ANN })), byAnn)
    const creators = metaplexMetadata({ ...about, authority: ANN, creators: 5 })
    assert.deepEqual(await powersOf(splMint(), creators), byAnn)
    const fixed = metaplexMetadata({ ...about, authority: ANN, isMutable: false })
    assert.deepEqual(await powersOf(splMint(), fixed), [])
    assert.deepEqual(await powersOf(splMint(), metaplexMetadata(about)), [])
  })

  test('in the mint wins over Metaplex, and the pointer can be changed too', async () => {
    const own = [19, metadataExtension({ ...about, authority: BEN })] as const
    const metaplex = metaplexMetadata({ ...about, authority: ANN })
    const byBen = [`metadata update authority ${BEN}`]
    assert.deepEqual(await powersOf(token2022Mint({}, [own]), metaplex), byBen)
    const pointer = (to: string) => [18, Buffer.concat([keyBytes(ANN), keyBytes(to)])] as const
    const pointing = [`metadata pointer authority ${ANN}`]
    assert.deepEqual(await powersOf(token2022Mint({}, [pointer(MINT), own])), [...pointing, ...byBen])
    const toMetaplex = token2022Mint({}, [pointer(place)])
    assert.deepEqual(await powersOf(toMetaplex, metaplex), [...pointing, `metadata update authority ${ANN}`])
    assert.deepEqual(await powersOf(token2022Mint({}, [pointer(BEN), own])), pointing, 'a third account')
    const fixed = [18, Buffer.concat([ZERO, keyBytes(BEN)])] as const
    assert.equal(await powersOf(token2022Mint({}, [fixed, own])), undefined, 'a third account for good')
    assert.deepEqual(await powersOf(token2022Mint({}, [[19, metadataExtension(about)]])), [])
  })

  test('that is absent, foreign or damaged is unknown', async () => {
    const good = metaplexMetadata({ ...about, authority: ANN })
    const cut = (bytes: number) => account(METAPLEX, good.data.subarray(0, bytes))
    const giant = Buffer.from(good.data)
    giant.fill(0xff, 65, 69)
    const crowd = Buffer.from(metaplexMetadata({ ...about, authority: ANN, creators: 1 }).data)
    crowd.fill(0xff, 322, 326)
    const cases: [string, Account | undefined][] = [
      ['absent', undefined],
      ['of another program', account(ANN, good.data)],
      ['of another mint', metaplexMetadata({ ...about, mint: BEN, authority: ANN })],
      ['a giant name', account(METAPLEX, giant)],
      ['four billion creators', account(METAPLEX, crowd)],
      ...[0, 1, 33, 65, 100, 320, 322].map((bytes): [string, Account] => [`${bytes} bytes`, cut(bytes)]),
    ]
    for (const [name, metadata] of cases) assert.equal(await powersOf(splMint(), metadata), undefined, name)
    const shortened = metadataExtension({ ...about, authority: BEN }).subarray(0, 63)
    assert.equal(await powersOf(token2022Mint({}, [[19, shortened]])), undefined)
    assert.equal(await powersOf(token2022Mint({}, [[18, keyBytes(ANN)]]), good), undefined)
    const foreign = metadataExtension({ ...about, mint: BEN, authority: BEN })
    assert.equal(await powersOf(token2022Mint({}, [[19, foreign]])), undefined)
  })
})

describe('the transfer fee', () => {
  const fee = (epoch: bigint, maxRaw: bigint, points: number): Buffer => {
    const bytes = Buffer.alloc(18)
    bytes.writeBigUInt64LE(epoch, 0)
    bytes.writeBigUInt64LE(maxRaw, 8)
    bytes.writeUInt16LE(points, 16)
    return bytes
  }
  const mintWith = (...fees: Buffer[]): Account =>
    token2022Mint({}, [[1, Buffer.concat([ZERO, ZERO, Buffer.alloc(8), ...fees])]])
  const clockAt = (epoch: bigint): Account => {
    const data = Buffer.alloc(40)
    data.writeBigUInt64LE(epoch, 16)
    return account('Sysvar1111111111111111111111111111111111111', data)
  }

  async function feeOf(mint: Account, clock?: Account) {
    const { ledger, inspect } = await world(mint)
    if (clock !== undefined) ledger.accounts.set(CLOCK, clock)
    const inspection = await inspect()
    expectEncodable({ type: 'inspection', address: MINT, inspection })
    return inspection.transferFee
  }

  test('is the newer one from its epoch on', async () => {
    const mint = mintWith(fee(1n, 7n, 500), fee(9n, 8n, 900))
    assert.deepEqual(await feeOf(mint, clockAt(8n)), { ppm: 50_000, maxRaw: 7n })
    assert.deepEqual(await feeOf(mint, clockAt(9n)), { ppm: 90_000, maxRaw: 8n })
    assert.equal(await feeOf(mint), undefined, 'without a clock')
    assert.equal(
      await feeOf(mint, account(ANN, clockAt(9n).data)),
      undefined,
      'with a clock of another program',
    )
    const cut = account(clockAt(9n).owner, Buffer.alloc(20))
    assert.equal(await feeOf(mint, cut), undefined, 'with a clock that is cut off')
  })

  test('without a change needs no clock, and a maximum of zero means none', async () => {
    assert.deepEqual(await feeOf(mintWith(fee(1n, 7n, 100), fee(9n, 7n, 100))), { ppm: 10_000, maxRaw: 7n })
    assert.deepEqual(await feeOf(mintWith(fee(1n, 0n, 100), fee(9n, 0n, 100))), { ppm: 0, maxRaw: 0n })
    assert.equal(await feeOf(splMint()), undefined)
  })

  test('that is damaged is unknown', async () => {
    assert.equal(await feeOf(mintWith(fee(1n, 7n, 100))), undefined)
    assert.equal(await feeOf(mintWith(fee(1n, 7n, 10_001), fee(1n, 7n, 10_001))), undefined)
    assert.equal(await feeOf(token2022Mint({}, [[1, Buffer.alloc(3)]])), undefined)
  })
})

test('trades, owner and proxy are unknown', async () => {
  const { inspect, head } = await world(splMint())
  const { owner, proxy, creator, trial, codeHash, block } = await inspect()
  assert.deepEqual([owner, proxy, creator, trial], [undefined, undefined, undefined, 'no_pair'])
  assert.deepEqual([codeHash, block], [TOKEN_PROGRAM, { number: head.number, hash: head.hash }])
})

test('an address that is no mint is no contract', async () => {
  const cases: [Account | undefined, string][] = [
    [undefined, SYSTEM_PROGRAM],
    [account(ANN, splMint({ mintAuthority: ANN }).data), ANN],
    [account(TOKEN_2022_PROGRAM, Buffer.alloc(3)), TOKEN_2022_PROGRAM],
  ]
  for (const [given, program] of cases) {
    const { inspect } = await world(given)
    const { trial, codeHash, findings } = await inspect()
    assert.deepEqual([trial, codeHash, findings.mint], ['no_contract', program, []])
  }
})

test('any extensions yield findings within the limits of the log, or none', async () => {
  const extension = fc.tuple(fc.integer({ min: 0, max: 30 }), fc.uint8Array({ maxLength: 120 }))
  await fc.assert(
    fc.asyncProperty(fc.array(extension, { minLength: 1, maxLength: 12 }), async (extensions) => {
      const mint = token2022Mint({ mintAuthority: ANN }, extensions)
      assert.ok(readMint(mint) !== undefined)
      const found = Object.values(await findingsOf(mint)).flatMap((evidence) => [evidence])
      for (const evidence of found) assert.ok(evidence.length <= MAX_FINDINGS)
      for (const text of found.flat()) assert.ok(text.length <= MAX_FINDING_LENGTH)
    }),
    { numRuns: 200 },
  )
})

test('inspections go through the queue of all chains, and wait for a node that fails', async () => {
  const { ledger, head } = await world(splMint({ mintAuthority: ANN }))
  const { logger } = createTestCommon()
  const index = new ReaderIndex(NOTHING_COMMITTED)
  const inspections = new Inspections({
    inspect: solanaInspector(ledger.nodes(), WITHOUT_SIMULATION),
    queue: index.inspections,
    knowsToken: () => true,
    onFailure: () => assert.fail('no result'),
    logger,
    signal: new AbortController().signal,
  })
  let failures = 0
  ledger.falsify = (method, answer) => (method === 'getMultipleAccounts' && failures++ < 2 ? {} : answer)
  let found: InspectionFact | undefined
  for (let tries = 0; tries < 200 && found === undefined; tries++) {
    inspections.want(MINT)
    inspections.readOn(head)
    await new Promise((resolve) => setTimeout(resolve, 2))
    found = inspections.take().find((fact): fact is InspectionFact => fact.type === 'inspection')
  }
  assert.deepEqual(found?.inspection.findings.mint, [`mint authority ${ANN}`])
  assert.ok(failures >= 3)
})
