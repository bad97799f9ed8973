import type { Random } from './random.ts'

/** What stands in events: numbers from nothing to the most there is, offsets and lengths, addresses, noise. */
export function randomWord(random: Random): Buffer {
  switch (random.below(8)) {
    case 0:
      return Buffer.from(random.bytes(32))
    case 1:
      return addressWord(random)
    case 2:
      return wordOf(BigInt(random.below(16)) * 32n)
    case 3:
      return wordOf(BigInt(random.below(300)))
    case 4:
      return wordOf(-BigInt(random.below(900_000)))
    case 5: {
      const bits = random.pick([8n, 16n, 24n, 31n, 32n, 64n, 112n, 127n, 128n, 160n, 255n, 256n])
      return wordOf((1n << bits) + BigInt(random.between(-2, 1)))
    }
    case 6:
      return Buffer.concat([Buffer.alloc(random.pick([12, 16, 20, 24])), random.bytes(32)]).subarray(0, 32)
    default:
      return wordOf(BigInt(random.below(2 ** 32)) * BigInt(random.below(2 ** 32)))
  }
}

export function addressWord(random: Random): Buffer {
  return Buffer.concat([Buffer.alloc(12), random.bytes(20)])
}

export function randomAddress(random: Random): string {
  return hexOf(random.bytes(20))
}

export function hexOf(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`
}

export function wordOf(value: bigint): Buffer {
  return Buffer.from(BigInt.asUintN(256, value).toString(16).padStart(64, '0'), 'hex')
}
