import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { base58 } from '@scure/base'
import {
  AccountRole,
  type AccountSignerMeta,
  type Address,
  address,
  type Instruction,
  type KeyPairSigner,
  type TransactionSigner,
} from '@solana/kit'
import {
  AuthorityType,
  findAssociatedTokenPda,
  getBurnCheckedInstruction,
  getBurnInstruction,
  getCloseAccountInstruction,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeAccount3Instruction,
  getInitializeMint2Instruction,
  getMintToCheckedInstruction,
  getMintToInstruction,
  getSetAuthorityInstruction,
  getTransferCheckedInstruction,
  getTransferInstruction,
} from '@solana-program/token'
import { noMoves } from '../../src/dex/move-sums.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/dex/solana/known-keys.ts'
import { mintBalancesIn, newMintsIn } from '../../src/dex/solana/owner-balances.ts'
import { rawLogsOf } from '../../src/dex/solana/raw-logs.ts'
import type { SolanaTransaction } from '../../src/dex/solana/transaction.ts'
import { addMove } from '../../src/dex/token-moves.ts'
import { SplLedger } from '../support/rigs/spl-ledger.ts'

/** The token programs themselves: what the logs of their transactions add up to is what their accounts hold. */

const DECIMALS = 6
const MINT_BYTES = 82n
const ACCOUNT_BYTES = 165n
/** A mint with the extension of transfer fees, and an account with the withheld amount. */
const FEE_MINT_BYTES = 278n

class World {
  readonly ledger: SplLedger
  readonly program: Address
  readonly ann: KeyPairSigner
  readonly ben: KeyPairSigner
  readonly mint: KeyPairSigner
  readonly transactions: SolanaTransaction[] = []

  private constructor(ledger: SplLedger, program: string, [ann, ben, mint]: readonly KeyPairSigner[]) {
    this.ledger = ledger
    this.program = address(program)
    this.ann = ann as KeyPairSigner
    this.ben = ben as KeyPairSigner
    this.mint = mint as KeyPairSigner
  }

  static async open(program: string): Promise<World> {
    const ledger = new SplLedger()
    const signers = [ledger.wallet('ann'), ledger.wallet('ben'), ledger.account('mint')]
    return new World(ledger, program, await Promise.all(signers))
  }

  get config() {
    return { programAddress: this.program }
  }

  async send(...instructions: Instruction[]): Promise<SolanaTransaction> {
    const transaction = await this.ledger.send(this.ann, ...instructions)
    this.transactions.push(transaction)
    return transaction
  }

  async ata(owner: KeyPairSigner): Promise<Address> {
    const [ata] = await findAssociatedTokenPda({
      owner: owner.address,
      mint: this.mint.address,
      tokenProgram: this.program,
    })
    return ata
  }

  async openAta(owner: KeyPairSigner): Promise<Instruction> {
    const common = { payer: this.ann, owner: owner.address, mint: this.mint.address }
    return getCreateAssociatedTokenIdempotentInstruction({
      ...common,
      ata: await this.ata(owner),
      tokenProgram: this.program,
    })
  }

  createMint(): Instruction[] {
    const { mint, ann, config } = this
    return [
      this.createAccount(mint, MINT_BYTES),
      getInitializeMint2Instruction(
        { mint: mint.address, decimals: DECIMALS, mintAuthority: ann.address },
        config,
      ),
    ]
  }

  createAccount(account: TransactionSigner, space: bigint): Instruction {
    const data = Buffer.alloc(52)
    data.writeBigUInt64LE(this.ledger.svm.minimumBalanceForRentExemption(space), 4)
    data.writeBigUInt64LE(space, 12)
    data.set(Buffer.from(keyBytes(this.program)), 20)
    return {
      programAddress: address('11111111111111111111111111111111'),
      accounts: [signing(this.ann), signing(account)],
      data,
    }
  }

  /** All that the logs add up to equals what the accounts hold. */
  check(holders: number): void {
    for (const { isFailed, logMessages } of this.transactions) assert.ok(!isFailed, logMessages.join('\n'))
    const sums = noMoves()
    for (const transaction of this.transactions) {
      for (const balances of mintBalancesIn(rawLogsOf(transaction, new Map(), 0))) {
        assert.equal(balances.token, this.mint.address)
        assert.ok(!balances.isIncomplete)
        addMove(sums, balances)
      }
    }
    const gains = new Map([...sums.gains].filter(([, gain]) => gain !== 0n).sort())
    assert.deepEqual(gains, new Map([...this.ledger.owners(this.mint.address)].sort()))
    assert.equal(gains.size, holders)
    assert.equal(sums.issuedRaw, this.ledger.supply(this.mint.address), 'issued is the supply')
    for (const floor of sums.floors?.values() ?? []) assert.ok(floor <= 0n, 'nobody held anything before')
    const all = this.transactions.map((transaction) => ({ logs: rawLogsOf(transaction, new Map(), 0) }))
    assert.deepEqual([...newMintsIn(all)], [this.mint.address])
  }
}

for (const [name, program] of [
  ['the token program', TOKEN_PROGRAM],
  ['Token-2022', TOKEN_2022_PROGRAM],
] as const) {
  test(`${name}: mint, transfer, burn, close, change of owner`, async () => {
    const world = await World.open(program)
    const { ann, ben, config, ledger } = world
    const mint = world.mint.address
    const [annAta, benAta] = await Promise.all([world.ata(ann), world.ata(ben)])
    const to = (source: Address, authority: KeyPairSigner, destination: Address, amount: bigint) =>
      getTransferCheckedInstruction(
        { source, mint, destination, authority, amount, decimals: DECIMALS },
        config,
      )

    const annsAccount = await world.openAta(ann)
    await world.send(
      ...world.createMint(),
      annsAccount,
      getMintToInstruction({ mint, token: annAta, mintAuthority: ann, amount: 1_000n }, config),
    )
    world.check(1)

    await world.send(await world.openAta(ben), to(annAta, ann, benAta, 300n))
    world.check(2)
    await world.send(
      getTransferInstruction({ source: benAta, destination: annAta, authority: ben, amount: 1n }, config),
    )
    world.check(2)

    const second = await ledger.account('second account of ben')
    await world.send(
      world.createAccount(second, ACCOUNT_BYTES),
      getInitializeAccount3Instruction({ account: second.address, mint, owner: ben.address }, config),
      to(benAta, ben, second.address, 100n),
      getMintToCheckedInstruction(
        { mint, token: second.address, mintAuthority: ann, amount: 50n, decimals: DECIMALS },
        config,
      ),
    )
    world.check(2)

    await world.send(
      getBurnInstruction({ account: annAta, mint, authority: ann, amount: 10n }, config),
      getBurnCheckedInstruction(
        { account: benAta, mint, authority: ben, amount: 9n, decimals: DECIMALS },
        config,
      ),
    )
    world.check(2)

    await world.send(
      getSetAuthorityInstruction(
        {
          owned: second.address,
          owner: ben,
          authorityType: AuthorityType.AccountOwner,
          newAuthority: ann.address,
        },
        config,
      ),
    )
    world.check(2)

    const rest = world.ledger.owners(mint).get(ben.address) ?? 0n
    await world.send(
      to(benAta, ben, annAta, rest),
      getCloseAccountInstruction({ account: benAta, destination: ben.address, owner: ben }, config),
    )
    world.check(1)

    const failed = await ledger.send(ann, to(annAta, ann, second.address, 10_000_000n))
    assert.ok(failed.isFailed)
    assert.deepEqual(rawLogsOf(failed, new Map(), 0), [])
    world.check(1)
  })
}

test('the token program: a batch mints and burns', async () => {
  const world = await World.open(TOKEN_PROGRAM)
  const { ann } = world
  const mint = world.mint.address
  const ata = await world.ata(ann)
  await world.send(...world.createMint(), await world.openAta(ann))
  const calls = [
    getMintToInstruction({ mint, token: ata, mintAuthority: ann, amount: 70n }),
    getBurnInstruction({ account: ata, mint, authority: ann, amount: 20n }),
  ]
  await world.send({
    programAddress: world.program,
    accounts: calls.flatMap(({ accounts }) => [...accounts]),
    data: Buffer.concat([
      Uint8Array.of(0xff),
      ...calls.flatMap(({ accounts, data }) => [
        Uint8Array.of(accounts.length, data.length),
        Uint8Array.from(data),
      ]),
    ]),
  })
  world.check(1)
  assert.equal(world.ledger.supply(mint), 50n)
})

describe('Token-2022 with a transfer fee of 5 %', () => {
  test('what is withheld is in the supply and in nobody’s balance, until it is withdrawn', async () => {
    const world = await World.open(TOKEN_2022_PROGRAM)
    const { ann, ben, config } = world
    const mint = world.mint.address
    const [annAta, benAta] = await Promise.all([world.ata(ann), world.ata(ben)])
    const authority = keyBytes(ann.address)
    const fee = Buffer.alloc(10)
    fee.writeUInt16LE(500, 0)
    fee.writeBigUInt64LE(1_000_000n, 2)
    const extension = (
      data: Uint8Array,
      ...accounts: { address: Address; role: AccountRole }[]
    ): Instruction => ({ programAddress: world.program, accounts, data }) as Instruction
    const writable = (key: Address) => ({ address: key, role: AccountRole.WRITABLE })
    const [create, initialize] = [world.createAccount(world.mint, FEE_MINT_BYTES), world.createMint()[1]]
    await world.send(
      create,
      extension(
        Buffer.concat([Uint8Array.of(26, 0, 1), authority, Uint8Array.of(1), authority, fee]),
        writable(mint),
      ),
      initialize as Instruction,
      await world.openAta(ann),
      getMintToInstruction({ mint, token: annAta, mintAuthority: ann, amount: 1_000n }, config),
    )
    world.check(1)

    await world.send(
      await world.openAta(ben),
      getTransferCheckedInstruction(
        { source: annAta, mint, destination: benAta, authority: ann, amount: 400n, decimals: DECIMALS },
        config,
      ),
    )
    world.check(2)
    const { owners } =
      mintBalancesIn(rawLogsOf(world.transactions.at(-1) as SolanaTransaction, new Map(), 0))[0] ?? {}
    const change = new Map(owners?.map(({ owner, beforeRaw, afterRaw }) => [owner, afterRaw - beforeRaw]))
    assert.deepEqual([change.get(ann.address), change.get(ben.address)], [-400n, 380n])

    // TransferCheckedWithFee.
    const withFee = Buffer.alloc(19)
    withFee.set([26, 1])
    withFee.writeBigUInt64LE(100n, 2)
    withFee[10] = DECIMALS
    withFee.writeBigUInt64LE(5n, 11)
    await world.send(
      extension(
        withFee,
        writable(annAta),
        { address: mint, role: AccountRole.READONLY },
        writable(benAta),
        signing(ann),
      ),
    )
    world.check(2)
    const held = [...world.ledger.owners(mint).values()].reduce((sum, amount) => sum + amount, 0n)
    assert.equal(world.ledger.supply(mint) - held, 25n, 'withheld')

    // WithdrawWithheldTokensFromAccounts: nothing is minted, but Ann gains.
    await world.send(
      extension(
        Uint8Array.of(26, 3, 1),
        { address: mint, role: AccountRole.READONLY },
        writable(annAta),
        signing(ann),
        writable(benAta),
      ),
    )
    world.check(2)
    assert.deepEqual(
      world.ledger.owners(mint),
      new Map([
        [ann.address, 525n],
        [ben.address, 475n],
      ]),
    )
  })
})

function signing(signer: TransactionSigner): AccountSignerMeta {
  return { address: signer.address, role: AccountRole.WRITABLE_SIGNER, signer }
}

function keyBytes(key: Address): Uint8Array {
  return base58.decode(key)
}
