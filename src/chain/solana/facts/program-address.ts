import { createHash } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519'

const MARK = Buffer.from('ProgramDerivedAddress')
const MAX_BUMP = 255

/**
 * The address that a program derives from seeds. It is the first hash, counting a byte down from 255, that is no public
 * key, so that nobody has its private key. One in 2 ** 256 programs and seeds has none.
 */
export function programAddress(seeds: readonly Uint8Array[], program: Uint8Array): Uint8Array | undefined {
  for (let bump = MAX_BUMP; bump >= 0; bump--) {
    const hash = createHash('sha256')
    for (const seed of seeds) hash.update(seed)
    const address = hash.update(Uint8Array.of(bump)).update(program).update(MARK).digest()
    if (!isPublicKey(address)) return address
  }
  return undefined
}

/** Whether someone can have the private key of this address: those of programs have none. */
export function isPublicKey(bytes: Uint8Array): boolean {
  try {
    ed25519.ExtendedPoint.fromHex(bytes)
    return true
  } catch {
    return false
  }
}
