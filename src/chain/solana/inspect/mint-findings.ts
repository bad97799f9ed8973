import { ByteCursor } from '../../../dex/solana/byte-cursor.ts'
import { base58Text } from '../../../domain/base58.ts'
import { type Findings, findingsBy } from '../../../domain/inspection.ts'
import type { Mint } from '../facts/mint-account.ts'
import { EXTENSION } from '../facts/mint-extensions.ts'

const FROZEN = 2
const KEY_BYTES = 32

/** What the authorities and extensions of a mint can do to its holders. Throws if some of them are unknown. */
export function mintFindings(mint: Mint): Findings {
  const { mintAuthority, freezeAuthority, extensions, isCut } = mint
  // Metadata may have any size, and only groups follow it; anything else that is cut off could hide an extension.
  if (isCut && [...extensions.keys()].at(-1) !== EXTENSION.metadata)
    throw new Error('the mint has too many extensions')
  const extension = (type: number): ByteCursor | undefined => {
    const value = extensions.get(type)
    return value === undefined ? undefined : new ByteCursor(value)
  }
  const delegate = keyIn(extension(EXTENSION.permanentDelegate))
  const isFrozen = extension(EXTENSION.defaultState)?.u8() === FROZEN
  return findingsBy((flag) => {
    switch (flag) {
      case 'mint':
        return named('mint authority', mintAuthority)
      case 'blacklist':
        return [
          ...named('freeze authority', freezeAuthority),
          ...named('permanent delegate', delegate),
          ...(isFrozen ? ['new accounts are frozen'] : []),
        ]
      case 'pause':
        return [
          ...pausing(extension(EXTENSION.pausable)),
          ...(extensions.has(EXTENSION.notTransferable) ? ['not transferable'] : []),
        ]
      case 'setFees':
        return feeSetting(extension(EXTENSION.transferFee))
      case 'callsOutInTransfer':
        return hooking(extension(EXTENSION.transferHook))
      // The token programs have nothing like these.
      case 'takeBackOwnership':
      case 'hiddenOwner':
      case 'selfdestruct':
        return []
      default:
        return flag satisfies never
    }
  })
}

/** authority, paused */
function pausing(cursor: ByteCursor | undefined): string[] {
  if (cursor === undefined) return []
  const authority = keyIn(cursor)
  const isPaused = cursor.u8() === 1 && cursor.isValid
  return [...named('pause authority', authority), ...(isPaused ? ['paused'] : [])]
}

/** config authority, withdraw authority, withheld amount, then twice: epoch, maximum fee, basis points */
function feeSetting(cursor: ByteCursor | undefined): string[] {
  if (cursor === undefined) return []
  const authority = keyIn(cursor)
  if (authority === undefined) return []
  cursor.skip(KEY_BYTES + 8)
  const [older, newer] = [feeIn(cursor), feeIn(cursor)]
  if (!cursor.isValid) return named('transfer fee authority', authority)
  const fee = older === newer ? `${newer}` : `${older}, later ${newer}`
  return [...named('transfer fee authority', authority), `transfer fee of ${fee} basis points`]
}

function feeIn(cursor: ByteCursor): number {
  cursor.skip(16)
  return cursor.u16()
}

/** authority, program: the authority can set a program later. */
function hooking(cursor: ByteCursor | undefined): string[] {
  if (cursor === undefined) return []
  const authority = keyIn(cursor)
  return [...named('transfer hook authority', authority), ...named('transfer hook program', keyIn(cursor))]
}

/** The next key; undefined if it is zero, which means none. */
function keyIn(cursor: ByteCursor | undefined): string | undefined {
  const key = cursor?.bytes(KEY_BYTES)
  return key?.some((byte) => byte !== 0) ? base58Text(key, 0) : undefined
}

function named(name: string, key: string | undefined): string[] {
  return key === undefined ? [] : [`${name} ${key}`]
}
