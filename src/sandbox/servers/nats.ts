import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessPlan } from './process.ts'
import { findProgram } from './programs.ts'

/** Ports one node needs: for clients, for monitoring, for the other nodes. */
export const natsPortsPerNode = 3

export type NatsGroup = {
  readonly urls: string[]
  readonly plans: ProcessPlan[]
  /** Every node agrees on a leader and the leader sees every node, so that a stream can have all replicas. */
  isFormed(): Promise<boolean>
}

/** How soon a message is on disk: before it is acknowledged, or within two minutes as is the server's default. */
export type NatsSync = 'always' | 'lazy'

/** The address at which one node connects to another, by their places in the cluster. */
export type NatsRoute = (from: number, to: number) => string

export type NatsOptions = {
  readonly sync?: NatsSync
  /** Without it, nodes connect to each other directly. */
  readonly route?: NatsRoute
}

type NodePorts = { readonly client: number; readonly monitor: number; readonly route: number }

export function planNats(
  dataDir: string,
  nodeCount: number,
  ports: readonly number[],
  options: NatsOptions = {},
): NatsGroup {
  const nodes = Array.from({ length: nodeCount }, (_, index): NodePorts => {
    const [client, monitor, route] = ports.slice(index * natsPortsPerNode)
    if (client === undefined || monitor === undefined || route === undefined) throw new Error('too few ports')
    return { client, monitor, route }
  })
  const names = nodes.map((_, index) => (nodeCount === 1 ? 'nats' : `nats-${index + 1}`))
  return {
    urls: nodes.map((node) => `nats://127.0.0.1:${node.client}`),
    plans: nodes.map((node, index) => planNode(dataDir, names[index] ?? 'nats', node, nodes, options)),
    isFormed: async () => nodeCount === 1 || (await isClusterFormed(nodes)),
  }
}

function planNode(
  dataDir: string,
  name: string,
  node: NodePorts,
  nodes: readonly NodePorts[],
  options: NatsOptions,
): ProcessPlan {
  const folder = join(dataDir, name)
  mkdirSync(folder, { recursive: true })
  const configFile = join(folder, 'nats.conf')
  writeFileSync(configFile, config(name, folder, node, nodes, options))
  const clustered = nodes.length > 1
  return {
    name,
    command: findProgram('nats-server') ?? 'nats-server',
    args: ['--config', configFile],
    logFile: join(dataDir, `${name}.log`),
    ports: clustered ? [node.client, node.monitor, node.route] : [node.client, node.monitor],
    isReady: async () => {
      const check = clustered ? '?js-server-only=true' : ''
      const health = await fetch(`http://127.0.0.1:${node.monitor}/healthz${check}`)
      if (!health.ok) return false
      return (await getJson<{ disabled?: boolean }>(node.monitor, '/jsz')).disabled !== true
    },
  }
}

function config(
  name: string,
  folder: string,
  node: NodePorts,
  nodes: readonly NodePorts[],
  { sync = 'always', route }: NatsOptions,
): string {
  const lines = [
    `server_name: ${name}`,
    `listen: 127.0.0.1:${node.client}`,
    `http: 127.0.0.1:${node.monitor}`,
    `jetstream { store_dir: ${JSON.stringify(join(folder, 'store'))}, sync_interval: ${sync === 'always' ? 'always' : '"2m"'} }`,
  ]
  if (nodes.length > 1) {
    const from = nodes.indexOf(node)
    const routes = nodes.map((other, to) => route?.(from, to) ?? `nats://127.0.0.1:${other.route}`)
    // Clients are given every node's address, or one of a proxy before it: the nodes announce none.
    const cluster = [`name: chaintape, listen: 127.0.0.1:${node.route}`, 'no_advertise: true']
    // Nodes report each other's addresses, and would connect there: to none, if they are to use their own routes only.
    if (route !== undefined) cluster.push('advertise: "127.0.0.1:1"')
    lines.push(`cluster { ${cluster.join(', ')}, routes: [${routes.join(', ')}] }`)
  }
  return `${lines.join('\n')}\n`
}

type JetStreamInfo = {
  meta_cluster?: {
    leader?: string
    cluster_size?: number
    replicas?: { current: boolean; offline?: boolean }[]
  }
}

async function isClusterFormed(nodes: readonly NodePorts[]): Promise<boolean> {
  const infos = await Promise.all(nodes.map((node) => getJson<JetStreamInfo>(node.monitor, '/jsz')))
  const groups = infos.map((info) => info.meta_cluster)
  const leader = groups[0]?.leader ?? ''
  if (leader === '' || groups.some((group) => group?.leader !== leader)) return false
  // Only the leader lists the others.
  return groups.some((group) => {
    const others = group?.replicas ?? []
    return others.length === nodes.length - 1 && others.every((other) => other.current && !other.offline)
  })
}

async function getJson<T>(port: number, path: string): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`)
  return (await response.json()) as T
}
