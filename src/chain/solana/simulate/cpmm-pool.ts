import { ByteCursor } from '../../../dex/solana/byte-cursor.ts'
import { base58Text } from '../../../domain/base58.ts'
import type { Account } from '../account.ts'
import { derivedAddress, u64 } from './token-instructions.ts'
import type { Instruction } from './unsigned-transaction.ts'

/** The side of a pool: a mint with its program and the account in which the pool holds it. */
export type PoolSide = { readonly mint: string; readonly program: string; readonly vault: string }

/** A pool of Raydium CPMM, with all that a swap has to name. */
export type CpmmPool = {
  readonly address: string
  readonly program: string
  readonly config: string
  readonly creator: string
  readonly sides: readonly [PoolSide, PoolSide]
  readonly observation: string
}

/** The first bytes of PoolState and of swap_base_input, which Anchor derives from their names. */
const POOL_STATE = 'f7ede3f5d7c3de46'
const SWAP_BASE_INPUT = Buffer.from('8fbe5adac41e33de', 'hex')
const DISCRIMINATOR_BYTES = 8
const AUTHORITY_SEED = Buffer.from('vault_and_lp_mint_auth_seed')

/**
 * PoolState: amm_config, pool_creator, token vaults 0 and 1, lp_mint, mints 0 and 1, their programs, observation_key, more.
 * Undefined unless it is a pool of this program.
 */
export function readCpmmPool(address: string, program: string, account: Account): CpmmPool | undefined {
  const cursor = new ByteCursor(account.data)
  const discriminator = Buffer.from(cursor.bytes(DISCRIMINATOR_BYTES)).toString('hex')
  if (account.owner !== program || discriminator !== POOL_STATE) return undefined
  const key = (): string => base58Text(cursor.bytes(32), 0)
  const [config, creator, vault0, vault1] = [key(), key(), key(), key()]
  cursor.skip(32)
  const [mint0, mint1, program0, program1, observation] = [key(), key(), key(), key(), key()]
  if (!cursor.isValid) return undefined
  const sides = [
    { mint: mint0, program: program0, vault: vault0 },
    { mint: mint1, program: program1, vault: vault1 },
  ] as const
  return { address, program, config, creator, sides, observation }
}

/** Spends `amountRaw` of one side for whatever the other side yields. */
export function cpmmSwap(
  pool: CpmmPool,
  trade: {
    readonly user: string
    readonly from: PoolSide
    readonly fromAccount: string
    readonly to: PoolSide
    readonly toAccount: string
    readonly amountRaw: bigint
  },
): Instruction {
  const { user, from, fromAccount, to, toAccount, amountRaw } = trade
  return {
    program: pool.program,
    accounts: [
      { key: user, isSigner: true },
      { key: derivedAddress([AUTHORITY_SEED], pool.program) },
      { key: pool.config },
      { key: pool.address, isWritable: true },
      { key: fromAccount, isWritable: true },
      { key: toAccount, isWritable: true },
      { key: from.vault, isWritable: true },
      { key: to.vault, isWritable: true },
      { key: from.program },
      { key: to.program },
      { key: from.mint },
      { key: to.mint },
      { key: pool.observation, isWritable: true },
    ],
    data: Buffer.concat([SWAP_BASE_INPUT, u64(amountRaw), u64(0n)]),
  }
}
