import assert from 'node:assert/strict'
import { base58 } from '@scure/base'
import {
  AccountRole,
  type AccountSignerMeta,
  type Address,
  address,
  type Instruction,
  type KeyPairSigner,
} from '@solana/kit'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getFreezeAccountInstruction,
  getInitializeMint2Instruction,
  getMintToInstruction,
} from '@solana-program/token'
import type { KnownPool } from '../../../src/chain/inspection-queue.ts'
import { solanaInspector } from '../../../src/chain/solana/inspect/inspector.ts'
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/dex/solana/known-keys.ts'
import type { Inspection } from '../../../src/domain/inspection.ts'
import { expectEncodable } from '../../../src/wire/fact-codec.ts'
import { base58Of } from './solana-ledger.ts'
import { SplLedger } from './spl-ledger.ts'
import { SplNode } from './spl-node.ts'
import { createTestCommon } from './test-common.ts'

const DECIMALS = 6
const MINT_BYTES = 82n
const HOLDERS = ['ben', 'cleo', 'dan', 'eve', 'fay'] as const
/** A mint with one extension: the length of an account, its type, then type, length and value. */
const bytesWith = (value: number): bigint => BigInt(165 + 1 + 4 + value)

export type Extension = { readonly valueBytes: number; readonly initialize: (mint: Address) => Instruction }
type Options = {
  readonly program?: string
  readonly extension?: Extension
  readonly hasFreezeAuthority?: boolean
}

/** A mint with holders, executed by the real token programs, and a node that serves it. */
export class SplWorld {
  readonly ledger = new SplLedger()
  readonly node = new SplNode(this.ledger.svm)
  /** The pools that are known of the token. */
  readonly pools: KnownPool[] = []
  readonly program: Address
  readonly ann: KeyPairSigner
  readonly mint: KeyPairSigner
  readonly holders: readonly KeyPairSigner[]

  constructor(program: string, [ann, mint, ...holders]: readonly KeyPairSigner[]) {
    this.program = address(program)
    this.ann = ann as KeyPairSigner
    this.mint = mint as KeyPairSigner
    this.holders = holders
  }

  /** A mint of Ann with five holders, the last of which have least. */
  static async open({ program = TOKEN_PROGRAM, extension, hasFreezeAuthority }: Options): Promise<SplWorld> {
    const names = new SplLedger()
    const signers = await Promise.all(['ann', 'mint', ...HOLDERS].map((name) => names.account(name)))
    const world = new SplWorld(program, signers)
    for (const name of ['ann', ...HOLDERS]) await world.ledger.wallet(name)
    const { ann, config } = world
    const mint = world.mint.address
    await world.send(
      world.create(extension === undefined ? MINT_BYTES : bytesWith(extension.valueBytes)),
      ...(extension === undefined ? [] : [extension.initialize(mint)]),
      getInitializeMint2Instruction(
        {
          ...{ mint, decimals: DECIMALS, mintAuthority: ann.address },
          ...(hasFreezeAuthority !== false && { freezeAuthority: ann.address }),
        },
        config,
      ),
    )
    for (const [index, holder] of world.holders.entries()) {
      const token = await world.ata(holder)
      const amount = BigInt(1_000_000 * (HOLDERS.length - index))
      const opening = { payer: ann, owner: holder.address, mint, ata: token, tokenProgram: world.program }
      await world.send(getCreateAssociatedTokenIdempotentInstruction(opening))
      await world.mintTo(token, amount)
    }
    return world
  }

  get config() {
    return { programAddress: this.program }
  }

  async mintTo(token: Address, amount: bigint): Promise<void> {
    const minting = { mint: this.mint.address, token, mintAuthority: this.ann, amount }
    await this.send(getMintToInstruction(minting, this.config))
  }

  async ata({ address: owner }: { readonly address: Address }): Promise<Address> {
    const { mint, program: tokenProgram } = this
    const [ata] = await findAssociatedTokenPda({ owner, mint: mint.address, tokenProgram })
    return ata
  }

  async freeze(...holders: readonly KeyPairSigner[]): Promise<void> {
    for (const holder of holders) {
      const freezing = { account: await this.ata(holder), mint: this.mint.address, owner: this.ann }
      await this.send(getFreezeAccountInstruction(freezing, this.config))
    }
  }

  create(space: bigint): Instruction {
    const data = Buffer.alloc(52)
    data.writeBigUInt64LE(this.ledger.svm.minimumBalanceForRentExemption(space), 4)
    data.writeBigUInt64LE(space, 12)
    data.set(base58.decode(this.program), 20)
    const accounts = [signing(this.ann), signing(this.mint)]
    return { programAddress: address(SYSTEM_PROGRAM), accounts, data } as Instruction
  }

  async send(...instructions: Instruction[]): Promise<void> {
    const { isFailed, logMessages } = await this.ledger.send(this.ann, ...instructions)
    assert.ok(!isFailed, logMessages.join('\n'))
  }

  async inspect(): Promise<Inspection> {
    const inspect = solanaInspector(this.node.nodes(), {
      poolsOf: () => this.pools,
      isSimulating: true,
      logger: createTestCommon().logger,
    })
    const token = this.mint.address
    const [hash, parentHash] = [base58Of('block'), base58Of('parent')]
    const inspection = await inspect(token, { number: 7, hash, parentHash, time: 1 })
    expectEncodable({ type: 'inspection', address: token, inspection })
    return inspection
  }

  async transfers(): Promise<Inspection['holderTransfers']> {
    return (await this.inspect()).holderTransfers
  }
}

export function signing(signer: KeyPairSigner): AccountSignerMeta {
  return { address: signer.address, role: AccountRole.WRITABLE_SIGNER, signer }
}

/** An extension that an instruction with this data creates. */
export function initializing(valueBytes: number, ...data: readonly (number | Uint8Array)[]): Extension {
  return {
    valueBytes,
    initialize: (mint) =>
      ({
        programAddress: address(TOKEN_2022_PROGRAM),
        accounts: [{ address: mint, role: AccountRole.WRITABLE }],
        data: Buffer.concat(data.map((each) => (typeof each === 'number' ? Uint8Array.of(each) : each))),
      }) as Instruction,
  }
}
