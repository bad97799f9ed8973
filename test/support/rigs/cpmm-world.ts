import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import {
  AccountRole,
  type AccountSignerMeta,
  type Address,
  address,
  type Instruction,
  lamports,
} from '@solana/kit'
import {
  getCreateAssociatedTokenIdempotentInstruction,
  getSyncNativeInstruction,
} from '@solana-program/token'
import { programAddress } from '../../../src/chain/solana/facts/program-address.ts'
import { SYSTEM_PROGRAM, TOKEN_PROGRAM, WSOL } from '../../../src/dex/solana/known-keys.ts'
import { solanaFixtures } from '../recorded/recorded-solana.ts'
import { type SplWorld, signing } from './spl-world.ts'

/** The compiled program is not part of this repository; see decision 97. */
const PROGRAM_FILE = join(solanaFixtures, 'programs/raydium_cp_swap.so')
export const hasCpmm = existsSync(PROGRAM_FILE)
export const CPMM = 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C'

const FEE_RECEIVER = 'DNXgeM9EiiaAbaWvwjHj9fQQLAX5ZsfHyvmYUNRAdNC8'
const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'
const RENT = 'SysvarRent111111111111111111111111111111111'
const INITIALIZE = Buffer.from('afaf6d1f0d989bed', 'hex')
const AMM_CONFIG = Buffer.from('daf42168cbcb2b6f', 'hex')
const CONFIG_BYTES = 236
const TRADE_FEE_PPM = 2_500n

/** Opens a pool of Ann's token against SOL in the real program, and adds it to the pools of the world. */
export async function openCpmmPool(
  world: SplWorld,
  { tokensRaw, solRaw }: { tokensRaw: bigint; solRaw: bigint },
): Promise<string> {
  const { ledger, ann, program } = world
  const { svm } = ledger
  svm.withNativeMints()
  svm.addProgramFromFile(address(CPMM), PROGRAM_FILE)
  const token = world.mint.address
  const config = derived('amm_config', Buffer.alloc(2))
  const put = (key: string, owner: string, data: Uint8Array): void =>
    svm.setAccount({
      ...{ address: address(key), programAddress: address(owner), executable: false },
      ...{ data, lamports: lamports(10_000_000n), space: BigInt(data.length) },
    })
  put(config, CPMM, configData())
  const feeAccount = Buffer.alloc(165)
  feeAccount.set(base58.decode(WSOL))
  feeAccount.set(base58.decode(ann.address), 32)
  // Initialized, and native with a rent of two million lamports.
  feeAccount[108] = 1
  feeAccount.writeUInt32LE(1, 109)
  feeAccount.writeBigUInt64LE(2_039_280n, 113)
  put(FEE_RECEIVER, TOKEN_PROGRAM, feeAccount)
  svm.airdrop(ann.address, lamports(solRaw * 2n))
  const [own, coins] = [await world.ata(ann), await ataOf(world, WSOL, TOKEN_PROGRAM)]
  const open = (mint: string, ata: Address, tokenProgram: string) =>
    getCreateAssociatedTokenIdempotentInstruction({
      ...{ payer: ann, owner: ann.address, mint: address(mint), ata, tokenProgram: address(tokenProgram) },
    })
  await world.send(
    open(token, own, program),
    open(WSOL, coins, TOKEN_PROGRAM),
    transfer(world, coins, solRaw),
  )
  await world.send(getSyncNativeInstruction({ account: coins }))
  await world.mintTo(own, tokensRaw)
  const isFirst = Buffer.compare(base58.decode(token), base58.decode(WSOL)) < 0
  const [mint0, mint1] = isFirst ? [token, WSOL] : [WSOL, token]
  const pool = derived('pool', base58.decode(config), base58.decode(mint0), base58.decode(mint1))
  const of = (seed: string, ...more: string[]) =>
    derived(seed, base58.decode(pool), ...more.map((each) => base58.decode(each)))
  const lpMint = of('pool_lp_mint')
  const vaults = [of('pool_vault', mint0), of('pool_vault', mint1)]
  const [program0, program1] = isFirst ? [program, TOKEN_PROGRAM] : [TOKEN_PROGRAM, program]
  const [own0, own1] = isFirst ? [own, coins] : [coins, own]
  const [amount0, amount1] = isFirst ? [tokensRaw, solRaw] : [solRaw, tokensRaw]
  const amounts = Buffer.alloc(24)
  amounts.writeBigUInt64LE(amount0, 0)
  amounts.writeBigUInt64LE(amount1, 8)
  const writable = [pool, lpMint, own0, own1, ...vaults, FEE_RECEIVER, of('observation')]
  const ownShares = await ataOf(world, lpMint, TOKEN_PROGRAM)
  const keys = [
    ...[config, derived('vault_and_lp_mint_auth_seed'), pool, mint0, mint1, lpMint, own0, own1, ownShares],
    ...[...vaults, FEE_RECEIVER, of('observation'), TOKEN_PROGRAM, program0, program1],
    ...[ASSOCIATED_TOKEN_PROGRAM, SYSTEM_PROGRAM, RENT],
  ]
  const accounts = keys.map((key) => ({
    address: address(key),
    role: [...writable, ownShares].includes(key) ? AccountRole.WRITABLE : AccountRole.READONLY,
  }))
  await world.send({
    programAddress: address(CPMM),
    accounts: [signing(ann) as AccountSignerMeta, ...accounts],
    data: Buffer.concat([INITIALIZE, amounts]),
  } as Instruction)
  // It opens a second later.
  const clock = svm.getClock()
  clock.unixTimestamp += 60n
  svm.setClock(clock)
  world.pools.push({ address: pool, factory: CPMM, quote: WSOL })
  return pool
}

function derived(seed: string, ...seeds: readonly Uint8Array[]): string {
  const found = programAddress([Buffer.from(seed), ...seeds], base58.decode(CPMM))
  if (found === undefined) throw new Error('no address')
  return base58.encode(found)
}

async function ataOf({ ann }: SplWorld, mint: string, program: string): Promise<Address> {
  const seeds = [base58.decode(ann.address), base58.decode(program), base58.decode(mint)]
  const found = programAddress(seeds, base58.decode(ASSOCIATED_TOKEN_PROGRAM))
  if (found === undefined) throw new Error('no address')
  return address(base58.encode(found))
}

function transfer({ ann }: SplWorld, to: Address, amount: bigint): Instruction {
  const data = Buffer.alloc(12)
  data.writeUInt32LE(2)
  data.writeBigUInt64LE(amount, 4)
  const accounts = [signing(ann), { address: to, role: AccountRole.WRITABLE }]
  return { programAddress: address(SYSTEM_PROGRAM), accounts, data } as Instruction
}

/** AmmConfig: bump, disable_create_pool, index, trade, protocol and fund fee rates, create_pool_fee, more. */
function configData(): Buffer {
  const data = Buffer.alloc(CONFIG_BYTES)
  AMM_CONFIG.copy(data)
  data.writeBigUInt64LE(TRADE_FEE_PPM, 12)
  return data
}
