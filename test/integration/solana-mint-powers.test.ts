import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base58 } from '@scure/base'
import {
  AccountRole,
  type AccountSignerMeta,
  type Address,
  address,
  type Instruction,
  type KeyPairSigner,
} from '@solana/kit'
import { getInitializeMint2Instruction, getMintToInstruction } from '@solana-program/token'
import type { Account } from '../../src/chain/solana/account.ts'
import { type Mint, readMint } from '../../src/chain/solana/facts/mint-account.ts'
import { metadataOf } from '../../src/chain/solana/facts/token-metadata.ts'
import { metadataPowers } from '../../src/chain/solana/inspect/metadata-powers.ts'
import { CLOCK, epochIn, transferFeeOf } from '../../src/chain/solana/inspect/transfer-fee.ts'
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM } from '../../src/dex/solana/known-keys.ts'
import { borshText } from '../support/builders/account-data.ts'
import { SplLedger } from '../support/rigs/spl-ledger.ts'

/** The inspection of mints that the real Token-2022 program wrote. */

const PROGRAM = address(TOKEN_2022_PROGRAM)
const DECIMALS = 6
const FEE_MINT_BYTES = 278n
const POINTER_MINT_BYTES = 234n
const ACCOUNT_WITH_FEE_BYTES = 178n
const INITIALIZE_METADATA = [210, 225, 30, 162, 88, 184, 77, 141]
const UPDATE_AUTHORITY = [215, 228, 166, 228, 84, 100, 86, 123]

class World {
  readonly ledger = new SplLedger()
  readonly ann: KeyPairSigner
  readonly mint: KeyPairSigner

  constructor(ann: KeyPairSigner, mint: KeyPairSigner) {
    this.ann = ann
    this.mint = mint
  }

  static async open(): Promise<World> {
    const names = new SplLedger()
    const world = new World(await names.account('ann'), await names.account('mint'))
    await world.ledger.wallet('ann')
    return world
  }

  async send(...instructions: Instruction[]): Promise<void> {
    const { isFailed, logMessages } = await this.ledger.send(this.ann, ...instructions)
    assert.ok(!isFailed, logMessages.join('\n'))
  }

  create(account: KeyPairSigner, space: bigint): Instruction {
    const data = Buffer.alloc(52)
    data.writeBigUInt64LE(this.ledger.svm.minimumBalanceForRentExemption(space), 4)
    data.writeBigUInt64LE(space, 12)
    data.set(base58.decode(PROGRAM), 20)
    const accounts = [signing(this.ann), signing(account)]
    return { programAddress: address(SYSTEM_PROGRAM), accounts, data } as Instruction
  }

  initializeMint(): Instruction {
    const { mint, ann } = this
    const input = { mint: mint.address, decimals: DECIMALS, mintAuthority: ann.address }
    return getInitializeMint2Instruction(input, { programAddress: PROGRAM })
  }

  read(key: Address): Account {
    const account = this.ledger.svm.getAccount(key)
    assert.ok(account.exists)
    const data = Uint8Array.from(account.data)
    return { owner: account.programAddress, data, size: data.length }
  }

  get readMint(): Mint {
    return readMint(this.read(this.mint.address)) ?? assert.fail('no mint')
  }

  get epoch(): bigint | undefined {
    return epochIn(this.read(address(CLOCK)))
  }

  warpTo(epoch: bigint): void {
    const clock = this.ledger.svm.getClock()
    clock.epoch = epoch
    this.ledger.svm.setClock(clock)
  }
}

function signing(signer: KeyPairSigner): AccountSignerMeta {
  return { address: signer.address, role: AccountRole.WRITABLE_SIGNER, signer }
}

function instruction(data: Uint8Array, ...accounts: (AccountSignerMeta | Address)[]): Instruction {
  const metas = accounts.map((each) =>
    typeof each === 'string' ? { address: each, role: AccountRole.WRITABLE } : each,
  )
  return { programAddress: PROGRAM, accounts: metas, data } as Instruction
}

function feeBytes(points: number, max: bigint): Buffer {
  const fee = Buffer.alloc(10)
  fee.writeUInt16LE(points, 0)
  fee.writeBigUInt64LE(max, 2)
  return fee
}

test('the transfer fee is the one that the program withholds, before and after a change', async () => {
  const world = await World.open()
  const { ann, ledger } = world
  const mint = world.mint.address
  const [first, second] = await Promise.all([ledger.account('first'), ledger.account('second')])
  const authority = base58.decode(ann.address)
  await world.send(
    world.create(world.mint, FEE_MINT_BYTES),
    instruction(
      Buffer.concat([Uint8Array.of(26, 0, 1), authority, Uint8Array.of(1), authority, feeBytes(500, 1_000n)]),
      mint,
    ),
    world.initializeMint(),
  )
  for (const account of [first, second]) {
    // InitializeAccount3.
    const open = instruction(Buffer.concat([Uint8Array.of(18), authority]), account.address, mint)
    await world.send(world.create(account, ACCOUNT_WITH_FEE_BYTES), open)
  }
  const minting = { mint, token: first.address, mintAuthority: ann, amount: 10_000_000n }
  await world.send(getMintToInstruction(minting, { programAddress: PROGRAM }))
  const amountOf = (key: Address) => Buffer.from(world.read(key).data).readBigUInt64LE(64)
  /** What arrives less than was sent. */
  const withheld = async (amount: bigint): Promise<bigint> => {
    const before = amountOf(second.address)
    // TransferChecked.
    const data = Buffer.alloc(10)
    data[0] = 12
    data.writeBigUInt64LE(amount, 1)
    data[9] = DECIMALS
    await world.send(instruction(data, first.address, mint, second.address, signing(ann)))
    return amount - (amountOf(second.address) - before)
  }
  const check = async (ppm: number, maxRaw: bigint): Promise<void> => {
    assert.deepEqual(transferFeeOf(world.readMint, world.epoch), { ppm, maxRaw })
    assert.equal(await withheld(10_000n), (10_000n * BigInt(ppm)) / 1_000_000n)
    assert.equal(await withheld(1_000_000n), maxRaw)
  }
  await check(50_000, 1_000n)
  assert.deepEqual(transferFeeOf(world.readMint, undefined), { ppm: 50_000, maxRaw: 1_000n })
  // SetTransferFee: it takes effect two epochs later.
  await world.send(
    instruction(Buffer.concat([Uint8Array.of(26, 5), feeBytes(900, 2_000n)]), mint, signing(ann)),
  )
  const epoch = world.epoch ?? assert.fail('no epoch')
  await check(50_000, 1_000n)
  assert.equal(transferFeeOf(world.readMint, undefined), undefined, 'the epoch decides')
  world.warpTo(epoch + 1n)
  await check(50_000, 1_000n)
  world.warpTo(epoch + 2n)
  await check(90_000, 2_000n)
})

test('metadata in the mint can be changed until both authorities are gone', async () => {
  const world = await World.open()
  const { ann, ledger } = world
  const mint = world.mint.address
  const [authority, place, nobody] = [base58.decode(ann.address), base58.decode(mint), new Uint8Array(32)]
  await world.send(
    world.create(world.mint, POINTER_MINT_BYTES),
    instruction(Buffer.concat([Uint8Array.of(39, 0), authority, place]), mint),
    world.initializeMint(),
  )
  const powers = () => metadataPowers(mint, world.readMint, undefined)
  const pointing = `metadata pointer authority ${ann.address}`
  assert.deepEqual(powers(), [pointing])
  ledger.svm.airdrop(mint, ledger.svm.minimumBalanceForRentExemption(2_000n) as never)
  const texts = ['Real', 'REAL', 'https://localhost'].map(borshText)
  await world.send(
    instruction(
      Buffer.concat([Uint8Array.from(INITIALIZE_METADATA), ...texts]),
      ...[mint, ann.address, mint, signing(ann)],
    ),
  )
  assert.equal(String(Buffer.from(metadataOf(mint, world.readMint, undefined)?.name ?? [])), 'Real')
  assert.deepEqual(powers(), [pointing, `metadata update authority ${ann.address}`])
  await world.send(
    instruction(Buffer.concat([Uint8Array.from(UPDATE_AUTHORITY), nobody]), mint, signing(ann)),
  )
  assert.deepEqual(powers(), [pointing])
  // SetAuthority of type MetadataPointer to nobody.
  await world.send(instruction(Uint8Array.of(6, 12, 0), mint, signing(ann)))
  assert.deepEqual(powers(), [])
})
