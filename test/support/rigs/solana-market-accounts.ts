import { metadataAddress } from '../../../src/chain/solana/facts/token-metadata.ts'
import {
  account,
  keyBytes,
  metadataExtension,
  metaplexMetadata,
  splMint,
  token2022Mint,
} from '../builders/account-data.ts'
import { type MintAccount, TOKEN_2022 } from '../builders/solana-accounts.ts'
import type { RecordedSwaps } from '../recorded/recorded-swaps.ts'
import { SOLANA_DEPLOYMENTS } from '../recorded/solana-programs.ts'
import type { SolanaLedger } from './solana-ledger.ts'

const BIN_STEP = 10

/** A mint and its metadata: in the mint itself for Token-2022, in an account of Metaplex for SPL Token. */
export function putMint(
  ledger: SolanaLedger,
  { address: mint, name, symbol, decimals, program, supply }: MintAccount,
): void {
  const content = { decimals, supply }
  if (program === TOKEN_2022) {
    const extension = metadataExtension({ mint, name, symbol })
    ledger.accounts.set(mint, token2022Mint(content, [[19, extension]]))
    return
  }
  ledger.accounts.set(mint, splMint(content))
  const place = metadataAddress(mint)
  if (place !== undefined) ledger.accounts.set(place, metaplexMetadata({ mint, name, symbol }))
}

/** Accounts that recorded transactions do not contain: mints without metadata, and the bins of DLMM pools. */
export function putRecorded(ledger: SolanaLedger, { mints, swaps }: RecordedSwaps): void {
  for (const { address, decimals, program } of mints) {
    const content = { decimals, supply: 10n ** 15n }
    ledger.accounts.set(address, program === TOKEN_2022 ? token2022Mint(content) : splMint(content))
  }
  for (const { protocol, pool, mints: pair } of swaps) {
    if (protocol !== 'meteora_dlmm') continue
    const data = Buffer.alloc(904)
    data.write('210b3162b565b10d', 'hex')
    data.writeUInt16LE(BIN_STEP, 80)
    for (const [nth, mint] of pair.entries()) keyBytes(mint).copy(data, 88 + 32 * nth)
    ledger.accounts.set(pool, account(programOf('meteora_dlmm'), data))
  }
}

function programOf(name: string): string {
  return SOLANA_DEPLOYMENTS.find(({ protocol }) => protocol === name)?.factory ?? ''
}
