import { natsPortsPerNode } from '../../../src/sandbox/servers/nats.ts'
import { freePorts } from '../../../src/sandbox/servers/process.ts'
import type { StackOptions } from '../../../src/sandbox/servers/stack.ts'
import { StallingProxy } from './stalling-proxy.ts'

const NODES = 3
/** The last of the ports of a node is that for other nodes. */
const ROUTE_PORT = natsPortsPerNode - 1

/** The connections between three NATS nodes, each through a proxy: a node can be cut off from the others, not from its clients. */
export class ClusterLinks {
  readonly #ports: readonly number[]
  readonly #proxies: readonly (readonly StallingProxy[])[]

  private constructor(ports: readonly number[], proxies: readonly (readonly StallingProxy[])[]) {
    this.#ports = ports
    this.#proxies = proxies
  }

  static async open(): Promise<ClusterLinks> {
    const ports = await freePorts(NODES * natsPortsPerNode)
    const nodes = Array.from({ length: NODES }, (_, node) => node)
    const proxies = nodes.map(() =>
      Promise.all(
        nodes.map((to) =>
          StallingProxy.start(`nats://127.0.0.1:${ports[to * natsPortsPerNode + ROUTE_PORT]}`),
        ),
      ),
    )
    return new ClusterLinks(ports, await Promise.all(proxies))
  }

  get stackOptions(): Pick<StackOptions, 'natsNodes' | 'natsRoute' | 'ports'> {
    return {
      natsNodes: NODES,
      ports: { nats: this.#ports },
      natsRoute: (from, to) => `nats://127.0.0.1:${this.#proxies[from]?.[to]?.port}`,
    }
  }

  /** Stalled: connections stay open, and nothing passes, as when a network drops packets. Reset: they break. */
  cutOff(node: number, how: 'reset' | 'stalled'): void {
    for (const proxy of this.#of(node)) {
      if (how === 'reset') proxy.cut()
      else proxy.stall()
    }
  }

  restore(node: number): void {
    for (const proxy of this.#of(node)) proxy.resume()
  }

  async close(): Promise<void> {
    await Promise.all(this.#proxies.flat().map((proxy) => proxy.stop()))
  }

  /** Those from the node and those to it. */
  #of(node: number): StallingProxy[] {
    return this.#proxies.flatMap((row, from) => row.filter((_, to) => from === node || to === node))
  }
}
