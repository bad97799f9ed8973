import type { Grant } from '../../access/keys/key-ring.ts'

/** The open connections of each key at this gateway. */
export class Connections<Session> {
  readonly #byKey = new Map<string, Set<Session>>()

  of(keyId: string): readonly Session[] {
    return [...(this.#byKey.get(keyId) ?? [])]
  }

  hasRoomFor({ keyId, plan }: Grant): boolean {
    return (this.#byKey.get(keyId)?.size ?? 0) < plan.sockets.maxConnections
  }

  add({ keyId }: Grant, session: Session): void {
    const own = this.#byKey.get(keyId) ?? new Set()
    this.#byKey.set(keyId, own.add(session))
  }

  remove({ keyId }: Grant, session: Session): void {
    const own = this.#byKey.get(keyId)
    own?.delete(session)
    if (own?.size === 0) this.#byKey.delete(keyId)
  }
}
