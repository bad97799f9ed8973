import { createHash } from 'node:crypto'
import {
  type Address,
  address,
  appendTransactionMessageInstructions,
  createKeyPairSignerFromPrivateKeyBytes,
  createTransactionMessage,
  getBase58Decoder,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  lamports,
  pipe,
  setTransactionMessageFeePayerSigner,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import { FailedTransactionMetadata, LiteSVM } from 'litesvm'
import { parseRpcTransaction } from '../../../src/chain/solana/parse-transaction.ts'
import { parseWireTransaction } from '../../../src/chain/solana/wire-transaction.ts'
import { BALANCE_PROGRAMS } from '../../../src/dex/solana/known-keys.ts'
import type { SolanaTransaction } from '../../../src/dex/solana/transaction.ts'
import { base58Text } from '../../../src/domain/base58.ts'

type TokenAccount = {
  readonly program: string
  readonly mint: string
  readonly owner: string
  readonly amount: bigint
}

const PLAIN_BYTES = 165
const ACCOUNT_TYPE = 2
const base58 = getBase58Decoder()

/**
 * The real token programs, executed by LiteSVM. It does not report token balances, so they are read from the accounts of
 * a transaction before and after it, as a node does, and go through our parser with everything else.
 */
export class SplLedger {
  readonly svm = new LiteSVM()

  /** A key for an account that does not exist yet. */
  async account(name: string): Promise<KeyPairSigner> {
    return createKeyPairSignerFromPrivateKeyBytes(createHash('sha256').update(name).digest())
  }

  async wallet(name: string): Promise<KeyPairSigner> {
    const signer = await this.account(name)
    this.svm.airdrop(signer.address, lamports(10_000_000_000n))
    return signer
  }

  /** Executes the instructions in one transaction; `payer` signs, and so do the signers in the instructions. */
  async send(payer: KeyPairSigner, ...instructions: Instruction[]): Promise<SolanaTransaction> {
    this.svm.expireBlockhash()
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (it) => setTransactionMessageFeePayerSigner(payer, it),
      (it) => this.svm.setTransactionMessageLifetimeUsingLatestBlockhash(it),
      (it) => appendTransactionMessageInstructions(instructions, it),
    )
    const signed = await signTransactionMessageWithSigners(message)
    const encoded = getBase64EncodedWireTransaction(signed)
    const keys =
      parseWireTransaction(Buffer.from(encoded, 'base64'))?.keys.map((key) => base58Text(key, 0)) ?? []
    const before = this.#state(keys)
    const result = this.svm.sendTransaction(signed)
    const isFailed = result instanceof FailedTransactionMetadata
    const meta = isFailed ? result.meta() : result
    const after = this.#state(keys)
    const parsed = parseRpcTransaction(
      {
        transaction: [encoded, 'base64'],
        meta: {
          err: isFailed ? { InstructionError: [0, result.toString()] } : null,
          innerInstructions: meta.innerInstructions().map((inner, index) => ({
            index,
            instructions: inner.map((each) => ({
              programIdIndex: each.instruction().programIdIndex(),
              accounts: [...each.instruction().accounts()],
              data: base58.decode(each.instruction().data()),
              stackHeight: each.stackHeight(),
            })),
          })),
          logMessages: meta.logs(),
          preBalances: before.lamports,
          postBalances: after.lamports,
          preTokenBalances: before.tokens,
          postTokenBalances: after.tokens,
        },
      },
      Number(this.svm.getClock().slot),
    )
    if (parsed === undefined) throw new Error('the transaction is malformed')
    return parsed
  }

  /** Balances of a mint by owner, from all token accounts that exist. */
  owners(mint: string): Map<string, bigint> {
    const sums = new Map<string, bigint>()
    for (const program of BALANCE_PROGRAMS) {
      for (const { data } of this.svm.getProgramAccounts(address(program))) {
        const account = tokenAccount(program, data)
        if (account?.mint !== mint || account.amount === 0n) continue
        sums.set(account.owner, (sums.get(account.owner) ?? 0n) + account.amount)
      }
    }
    return sums
  }

  supply(mint: Address): bigint {
    const account = this.svm.getAccount(mint)
    if (!account.exists) throw new Error(`${mint} does not exist`)
    return Buffer.from(account.data).readBigUInt64LE(36)
  }

  #state(keys: readonly string[]) {
    const accounts = keys.map((key) => this.svm.getAccount(address(key)))
    return {
      lamports: accounts.map((account) => (account.exists ? Number(account.lamports) : 0)),
      tokens: accounts.flatMap((account, accountIndex) => {
        const token = account.exists ? tokenAccount(account.programAddress, account.data) : undefined
        if (token === undefined) return []
        const { mint, owner, program: programId, amount } = token
        return [{ accountIndex, mint, owner, programId, uiTokenAmount: { amount: `${amount}` } }]
      }),
    }
  }
}

function tokenAccount(program: string, data: ArrayLike<number>): TokenAccount | undefined {
  const bytes = Buffer.from(data)
  const isAccount =
    bytes.length === PLAIN_BYTES || (bytes.length > PLAIN_BYTES && bytes[PLAIN_BYTES] === ACCOUNT_TYPE)
  const isInitialized = bytes[108] !== 0
  if (!BALANCE_PROGRAMS.includes(program) || !isAccount || !isInitialized) return undefined
  return {
    program,
    mint: base58Text(bytes, 0),
    owner: base58Text(bytes, 32),
    amount: bytes.readBigUInt64LE(64),
  }
}
