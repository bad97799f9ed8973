import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { base58 } from '@scure/base'
import { AccountRole, address, type Instruction, type KeyPairSigner, lamports } from '@solana/kit'
import { programAddress } from '../../src/chain/solana/facts/program-address.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/dex/solana/known-keys.ts'
import { isHoneypot } from '../../src/domain/risk-score.ts'
import { SplLedger } from '../support/rigs/spl-ledger.ts'
import { type Extension, initializing, SplWorld, signing } from '../support/rigs/spl-world.ts'

/** Transfers by holders, simulated by the real token programs. */

const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111'
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
const ALL_WORK = { tried: 4, failed: 0, failure: undefined }

const hookOf = (program: string): Extension =>
  initializing(64, 36, 0, new Uint8Array(32), base58.decode(program))

for (const program of [TOKEN_PROGRAM, TOKEN_2022_PROGRAM]) {
  describe(program === TOKEN_PROGRAM ? 'SPL Token' : 'Token-2022', () => {
    test('holders can transfer, and nothing is left of the simulation', async () => {
      const world = await SplWorld.open({ program })
      const before = world.ledger.owners(world.mint.address)
      assert.deepEqual(await world.transfers(), ALL_WORK)
      assert.deepEqual(world.ledger.owners(world.mint.address), before)
      assert.equal(world.node.asked.filter((method) => method === 'simulateTransaction').length, 1)
    })

    test('frozen holders cannot', async () => {
      const world = await SplWorld.open({ program })
      const [, ben, cleo, dan] = world.holders as [KeyPairSigner, KeyPairSigner, KeyPairSigner, KeyPairSigner]
      await world.freeze(cleo)
      const failure = { account: await world.ata(cleo), reason: 'Account is frozen' }
      assert.deepEqual(await world.transfers(), { tried: 4, failed: 1, failure })
      await world.freeze(ben, dan)
      const inspection = await world.inspect()
      assert.equal(inspection.holderTransfers?.failed, 3)
      assert.equal(isHoneypot(inspection), undefined, 'nothing was bought')
    })

    test('a mint that nobody can stop is not simulated', async () => {
      const world = await SplWorld.open({ program, hasFreezeAuthority: false })
      assert.equal(await world.transfers(), undefined)
      assert.deepEqual(world.node.asked, ['getMultipleAccounts'])
    })
  })
}

describe('extensions of Token-2022', () => {
  const program = TOKEN_2022_PROGRAM

  test('a transfer fee', async () => {
    const fee = Buffer.alloc(10)
    fee.writeUInt16LE(333, 0)
    fee.writeBigUInt64LE(30_000n, 2)
    const ann = base58.decode((await new SplLedger().account('ann')).address)
    const world = await SplWorld.open({ program, extension: initializing(108, 26, 0, 1, ann, 1, ann, fee) })
    const { holderTransfers, transferFee } = await world.inspect()
    assert.deepEqual([holderTransfers, transferFee], [ALL_WORK, { ppm: 33_300, maxRaw: 30_000n }])
  })

  test('accounts that are frozen when created receive nothing', async () => {
    const world = await SplWorld.open({ program, extension: initializing(1, 28, 0, 1) })
    // DefaultAccountState: frozen from now on.
    await world.send({
      programAddress: world.program,
      accounts: [{ address: world.mint.address, role: AccountRole.WRITABLE }, signing(world.ann)],
      data: Uint8Array.of(28, 1, 2),
    } as Instruction)
    const transfers = await world.transfers()
    assert.deepEqual([transfers?.tried, transfers?.failed], [4, 4])
    assert.equal(transfers?.failure?.reason, 'Account is frozen')
  })

  test('a paused mint', async () => {
    const authority = base58.decode((await new SplLedger().account('ann')).address)
    const world = await SplWorld.open({ program, extension: initializing(33, 44, 0, authority) })
    assert.deepEqual(await world.transfers(), ALL_WORK)
    await world.send({
      programAddress: world.program,
      accounts: [{ address: world.mint.address, role: AccountRole.WRITABLE }, signing(world.ann)],
      data: Uint8Array.of(44, 1),
    } as Instruction)
    assert.equal((await world.transfers())?.failed, 4)
  })

  test('a mint that is not transferable', async () => {
    const world = await SplWorld.open({ program, extension: initializing(0, 32) })
    const transfers = await world.transfers()
    assert.deepEqual([transfers?.tried, transfers?.failed], [4, 4])
    assert.match(transfers?.failure?.reason ?? '', /Transfer is disabled for this mint/)
  })

  test('a hook that accepts, one that refuses, and one whose accounts are not resolved', async () => {
    const accepting = await SplWorld.open({ program, extension: hookOf(COMPUTE_BUDGET) })
    assert.deepEqual(await accepting.transfers(), ALL_WORK)
    const refusing = await SplWorld.open({ program, extension: hookOf(MEMO) })
    assert.equal((await refusing.transfers())?.failed, 4)
    // A list with one account that is derived from the transfer.
    const list = Buffer.alloc(8 + 4 + 4 + 35)
    Buffer.from('692565c54bfb661a', 'hex').copy(list)
    list.writeUInt32LE(4 + 35, 8)
    list.writeUInt32LE(1, 12)
    list[16] = 1
    const seeds = [Buffer.from('extra-account-metas'), base58.decode(accepting.mint.address)]
    const place = programAddress(seeds, base58.decode(COMPUTE_BUDGET)) ?? assert.fail('no address')
    accepting.ledger.svm.setAccount({
      ...{ address: address(base58.encode(place)), programAddress: address(COMPUTE_BUDGET) },
      ...{ data: list, lamports: lamports(10_000_000n), executable: false, space: BigInt(list.length) },
    })
    assert.equal(await accepting.transfers(), undefined)
  })
})
