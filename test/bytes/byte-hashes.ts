import { createHash, type Hash } from 'node:crypto'

type Kind = { count: number; bytes: number; readonly hash: Hash }

/** A hash per kind of message or record. Each item is hashed with its length, so no byte can move to the next one. */
export class ByteHashes {
  readonly #kinds = new Map<string, Kind>()

  add(name: string, ...parts: readonly (Uint8Array | string)[]): void {
    const kind = this.#kinds.get(name) ?? { count: 0, bytes: 0, hash: createHash('sha256') }
    this.#kinds.set(name, kind)
    kind.count++
    for (const part of parts) {
      const bytes = Buffer.from(part)
      kind.bytes += bytes.length
      kind.hash.update(`${bytes.length}:`).update(bytes)
    }
  }

  get kinds(): string[] {
    return [...this.#kinds.keys()].sort()
  }

  lines(): string[] {
    const rows = this.kinds.map((name) => {
      const { count, bytes, hash } = this.#kinds.get(name) as Kind
      return `${name},${count},${bytes},${hash.copy().digest('hex')}`
    })
    return ['kind,count,bytes,sha256', ...rows]
  }
}
