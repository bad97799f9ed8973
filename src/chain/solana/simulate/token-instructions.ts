import { createHash } from 'node:crypto'
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../../dex/solana/known-keys.ts'
import { BASE58_BYTES, base58Text, readBase58 } from '../../../domain/base58.ts'
import { programAddress } from '../facts/program-address.ts'
import type { AccountUse, Instruction } from './unsigned-transaction.ts'

const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'
const CREATE_IDEMPOTENT = 1
const TRANSFER_CHECKED = 12
const SYNC_NATIVE = 17
const SYSTEM_TRANSFER = 2

/** A mint with the token program that it belongs to. */
export type MintRef = { readonly address: string; readonly program: string; readonly decimals: number }

/** The token account of an owner whose address follows from owner and mint. */
export function associatedAccount(owner: string, mint: Pick<MintRef, 'address' | 'program'>): string {
  return derivedAddress(
    [keyBytes(owner), keyBytes(mint.program), keyBytes(mint.address)],
    ASSOCIATED_TOKEN_PROGRAM,
  )
}

/** Throws for one in 2 ** 256 seeds. */
export function derivedAddress(seeds: readonly Uint8Array[], program: string): string {
  const address = programAddress(seeds, keyBytes(program))
  if (address === undefined) throw new Error('the seeds have no address')
  return base58Text(address, 0)
}

export function createAssociated(
  payer: string,
  owner: string,
  mint: Pick<MintRef, 'address' | 'program'>,
): Instruction {
  return {
    program: ASSOCIATED_TOKEN_PROGRAM,
    accounts: [
      { key: payer, isSigner: true, isWritable: true },
      { key: associatedAccount(owner, mint), isWritable: true },
      { key: owner },
      { key: mint.address },
      { key: SYSTEM_PROGRAM },
      { key: mint.program },
    ],
    data: Uint8Array.of(CREATE_IDEMPOTENT),
  }
}

/** `hook` are the accounts that a transfer hook needs. */
export function transferChecked(
  mint: MintRef,
  from: { readonly account: string; readonly owner: string },
  to: string,
  amountRaw: bigint,
  hook: readonly AccountUse[] = [],
): Instruction {
  return {
    program: mint.program,
    accounts: [
      { key: from.account, isWritable: true },
      { key: mint.address },
      { key: to, isWritable: true },
      { key: from.owner, isSigner: true },
      ...hook,
    ],
    data: Buffer.concat([Uint8Array.of(TRANSFER_CHECKED), u64(amountRaw), Uint8Array.of(mint.decimals)]),
  }
}

/** Puts SOL into a token account of wrapped SOL. */
export function wrapLamports(payer: string, account: string, lamports: bigint): Instruction[] {
  const tag = Buffer.alloc(4)
  tag.writeUInt32LE(SYSTEM_TRANSFER)
  return [
    {
      program: SYSTEM_PROGRAM,
      accounts: [
        { key: payer, isSigner: true, isWritable: true },
        { key: account, isWritable: true },
      ],
      data: Buffer.concat([tag, u64(lamports)]),
    },
    {
      program: TOKEN_PROGRAM,
      accounts: [{ key: account, isWritable: true }],
      data: Uint8Array.of(SYNC_NATIVE),
    },
  ]
}

/** A wallet that nobody has used, and that no token can know before the block exists. */
export function freshWallet(...seeds: readonly string[]): string {
  return base58Text(createHash('sha256').update(seeds.join('/')).digest(), 0)
}

export function u64(value: bigint): Uint8Array {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

export function keyBytes(key: string): Uint8Array {
  const bytes = new Uint8Array(BASE58_BYTES)
  if (!readBase58(key, bytes, 0)) throw new Error(`${key} is no key`)
  return bytes
}
