import { StreamError } from '../errors.ts'
import { Connection, type ConnectionOptions } from './connection.ts'
import type { Subscription } from './subscription.ts'

export type PoolOptions = ConnectionOptions & {
  readonly maxConnections: number
  readonly maxSubscriptions: number
}

/** Spreads subscriptions over as few sockets as the limits of the plan permit. */
export class Pool {
  readonly #options: PoolOptions
  readonly #connections = new Set<Connection>()
  readonly #byMember = new Map<Subscription, Connection>()

  constructor(options: PoolOptions) {
    this.#options = options
  }

  /** Open sockets. */
  get size(): number {
    return this.#connections.size
  }

  add(subscription: Subscription): void {
    const connection = this.#connectionFor(subscription)
    this.#byMember.set(subscription, connection)
    connection.add(subscription)
  }

  remove(subscription: Subscription): void {
    const connection = this.#byMember.get(subscription)
    if (connection === undefined) return
    this.#byMember.delete(subscription)
    connection.remove(subscription)
    if (connection.size > 0) return
    this.#connections.delete(connection)
    connection.close()
  }

  pause(subscription: Subscription): void {
    this.#byMember.get(subscription)?.pause(subscription)
  }

  unpause(subscription: Subscription): void {
    this.#byMember.get(subscription)?.unpause(subscription)
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
    this.#connections.clear()
    this.#byMember.clear()
  }

  #connectionFor({ topic: { identity } }: Subscription): Connection {
    const { maxConnections, maxSubscriptions } = this.#options
    for (const connection of this.#connections)
      if (connection.size < maxSubscriptions && !connection.has(identity)) return connection
    if (this.#connections.size >= maxConnections) {
      throw new StreamError(
        `${maxConnections} sockets with ${maxSubscriptions} subscriptions each are in use, or have this topic already`,
        'limit_exceeded',
      )
    }
    const connection = new Connection(this.#options)
    this.#connections.add(connection)
    return connection
  }
}
