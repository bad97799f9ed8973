import { ByteCursor } from '../../../dex/solana/byte-cursor.ts'
import { ALL_OF_IT_PPM, type TransferFee } from '../../../domain/inspection.ts'
import type { Account } from '../account.ts'
import type { Mint } from '../facts/mint-account.ts'
import { EXTENSION } from '../facts/mint-extensions.ts'

export const CLOCK = 'SysvarC1ock11111111111111111111111111111111'
const SYSVARS = 'Sysvar1111111111111111111111111111111111111'
const AUTHORITIES_AND_WITHHELD_BYTES = 32 + 32 + 8
const ALL_POINTS = 10_000

/** The current epoch, from the clock's account: slot, start of the epoch, epoch, more. */
export function epochIn(clock: Account | undefined): bigint | undefined {
  if (clock?.owner !== SYSVARS) return undefined
  const cursor = new ByteCursor(clock.data, 16)
  const epoch = cursor.u64()
  return cursor.isValid ? epoch : undefined
}

/**
 * The fee that Token-2022 withholds from every transfer. A change of the fee takes effect two epochs later, so the mint has
 * two of them. Undefined if the mint has none, or if the epoch decides and is unknown.
 */
export function transferFeeOf({ extensions }: Mint, epoch: bigint | undefined): TransferFee | undefined {
  const config = extensions.get(EXTENSION.transferFee)
  if (config === undefined) return undefined
  const cursor = new ByteCursor(config, AUTHORITIES_AND_WITHHELD_BYTES)
  const [older, newer] = [feeIn(cursor), feeIn(cursor)]
  if (!cursor.isValid || older.points > ALL_POINTS || newer.points > ALL_POINTS) return undefined
  const isSame = older.points === newer.points && older.maxRaw === newer.maxRaw
  if (epoch === undefined && !isSame) return undefined
  const { points, maxRaw } = epoch === undefined || epoch >= newer.epoch ? newer : older
  return { ppm: maxRaw === 0n ? 0 : points * (ALL_OF_IT_PPM / ALL_POINTS), maxRaw }
}

function feeIn(cursor: ByteCursor): { epoch: bigint; maxRaw: bigint; points: number } {
  return { epoch: cursor.u64(), maxRaw: cursor.u64(), points: cursor.u16() }
}
