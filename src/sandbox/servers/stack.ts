import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { planAnvil } from './anvil.ts'
import { planClickhouse } from './clickhouse.ts'
import { type NatsRoute, type NatsSync, natsPortsPerNode, planNats } from './nats.ts'
import {
  forgetTemporaryFolder,
  freePorts,
  isAlive,
  PortTakenError,
  type ProcessPlan,
  type RunningProcess,
  removeAtExit,
  signalProcess,
  startProcess,
  TimeoutError,
  waitFor,
  waitUntilReady,
} from './process.ts'
import { planRedis } from './redis.ts'

export type ServiceName = 'nats' | 'redis' | 'clickhouse' | 'anvil'
/** A service, or one node of a three-node NATS cluster. */
export type ProcessName = ServiceName | 'nats-1' | 'nats-2' | 'nats-3'

export const serviceNames: readonly ServiceName[] = ['nats', 'redis', 'clickhouse', 'anvil']

export type StackOptions = {
  readonly natsNodes?: 1 | 3
  readonly natsSync?: NatsSync
  readonly natsRoute?: NatsRoute
  /** All of them unless named. */
  readonly services?: readonly ServiceName[]
  /** Kept after stop(); without it a temporary folder is made, and removed by stop(). */
  readonly dataDir?: string
  /** More arguments for anvil, such as its mining mode. */
  readonly anvil?: readonly string[]
  /** Free ports unless given; NATS takes three for each node (clients, monitoring, routes). */
  readonly ports?: Readonly<Partial<Record<ServiceName, readonly number[]>>>
}

export type Stack = {
  readonly natsUrls: string[]
  readonly redisUrl: string
  readonly clickhouseUrl: string
  readonly rpcUrl: string
  readonly dataDir: string
  readonly services: readonly ServiceName[]
  readonly ports: Readonly<Partial<Record<ServiceName, readonly number[]>>>
  readonly pids: Record<string, number>
  stop(): Promise<void>
  /** Waits until the process has ended, unless the signal is one that does not end it (SIGSTOP, SIGCONT). */
  kill(name: ProcessName, signal?: NodeJS.Signals): Promise<void>
  /** Same port and same data. What a service keeps in memory is gone: Redis and anvil start empty. */
  restart(name: ProcessName): Promise<void>
}

type Group = {
  readonly service: ServiceName
  readonly ports: readonly number[]
  readonly urls: string[]
  readonly running: Map<string, RunningProcess>
  isFormed(): Promise<boolean>
}

const startAttempts = 5
/**
 * Two NATS nodes that find each other before they find the third sometimes form a group of two, which the third never
 * joins. About one new cluster in a hundred; it is made anew.
 */
const newClusterTimeoutMs = 10_000

export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const isTemporary = options.dataDir === undefined
  const dataDir = resolve(options.dataDir ?? mkdtempSync(join(tmpdir(), 'chaintape-stack-')))
  mkdirSync(dataDir, { recursive: true })
  if (isTemporary) removeAtExit(dataDir)
  const services = options.services ?? serviceNames

  const groups = new Map<ServiceName, Group>()
  const endAll = async () => {
    const all = [...groups.values()].flatMap((group) => [...group.running.values()])
    // Data that is thrown away needs no orderly end.
    await Promise.all(all.map((running) => signalProcess(running, isTemporary ? 'SIGKILL' : 'SIGTERM')))
    if (!isTemporary) return
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
    forgetTemporaryFolder(dataDir)
  }

  const starts = services.map(async (service) => {
    groups.set(service, await startGroup(service, dataDir, options))
  })
  const failed = (await Promise.allSettled(starts)).find((result) => result.status === 'rejected')
  if (failed !== undefined) {
    await endAll()
    throw failed.reason
  }

  const groupOf = (service: ServiceName): Group => {
    const group = groups.get(service)
    if (group === undefined) throw new Error(`${service} is not part of this stack`)
    return group
  }
  const find = (name: ProcessName): [Group, RunningProcess[]] => {
    const group = groupOf(name.startsWith('nats') ? 'nats' : (name as ServiceName))
    const one = group.running.get(name)
    if (one === undefined && name !== group.service) throw new Error(`${name} is not part of this stack`)
    return [group, one === undefined ? [...group.running.values()] : [one]]
  }

  return {
    get natsUrls() {
      return groupOf('nats').urls
    },
    get redisUrl() {
      return groupOf('redis').urls[0] ?? ''
    },
    get clickhouseUrl() {
      return groupOf('clickhouse').urls[0] ?? ''
    },
    get rpcUrl() {
      return groupOf('anvil').urls[0] ?? ''
    },
    dataDir,
    services,
    get ports() {
      return Object.fromEntries([...groups].map(([service, group]) => [service, group.ports]))
    },
    get pids() {
      const all = [...groups.values()].flatMap((group) => [...group.running.values()])
      return Object.fromEntries(all.map((running) => [running.plan.name, running.pid]))
    },
    stop: endAll,
    kill: async (name, signal = 'SIGKILL') => {
      await Promise.all(find(name)[1].map((running) => signalProcess(running, signal)))
    },
    restart: async (name) => {
      const [group, processes] = find(name)
      await Promise.all(processes.map((running) => signalProcess(running, 'SIGTERM')))
      await startAndWait(
        group,
        processes.map((running) => running.plan),
      )
    },
  }
}

async function startGroup(service: ServiceName, dataDir: string, options: StackOptions): Promise<Group> {
  const fixedPorts = options.ports?.[service]
  const isNewCluster = service === 'nats' && options.natsNodes === 3 && !existsSync(join(dataDir, 'nats-1'))
  for (let attempt = 1; ; attempt++) {
    const ports = fixedPorts ?? (await freePorts(portCount(service, options)))
    const { group, plans } = planGroup(service, dataDir, ports, options)
    try {
      await startAndWait(group, plans, isNewCluster ? newClusterTimeoutMs : undefined)
      return group
    } catch (error) {
      await Promise.all([...group.running.values()].map((running) => signalProcess(running, 'SIGKILL')))
      const isPortLost = error instanceof PortTakenError && fixedPorts === undefined
      const isClusterBroken = error instanceof TimeoutError && isNewCluster
      if (attempt === startAttempts || !(isPortLost || isClusterBroken)) throw error
      if (isClusterBroken)
        for (const { name } of plans) rmSync(join(dataDir, name), { recursive: true, force: true })
    }
  }
}

async function startAndWait(
  group: Group,
  plans: readonly ProcessPlan[],
  formTimeoutMs?: number,
): Promise<void> {
  for (const plan of plans) group.running.set(plan.name, startProcess(plan))
  const started = plans.flatMap((plan) => group.running.get(plan.name) ?? [])
  await Promise.all(started.map(waitUntilReady))
  // A single node may be restarted on purpose while the others are down.
  if (![...group.running.values()].every(isAlive)) return
  await waitFor(`${group.service} has a leader and all nodes`, group.isFormed, formTimeoutMs)
}

function portCount(service: ServiceName, options: StackOptions): number {
  return service === 'nats' ? natsPortsPerNode * (options.natsNodes ?? 1) : 1
}

function planGroup(
  service: ServiceName,
  dataDir: string,
  ports: readonly number[],
  options: StackOptions,
): { group: Group; plans: ProcessPlan[] } {
  const base = { service, ports, running: new Map<string, RunningProcess>() }
  if (service === 'nats') {
    const { natsNodes = 1, natsSync: sync, natsRoute: route } = options
    const settings = { ...(sync && { sync }), ...(route && { route }) }
    const { urls, plans, isFormed } = planNats(dataDir, natsNodes, ports, settings)
    return { group: { ...base, urls, isFormed }, plans }
  }
  const port = ports[0]
  if (port === undefined) throw new Error(`no port for ${service}`)
  const single = {
    redis: () => ({ scheme: 'redis', plan: planRedis(dataDir, port) }),
    clickhouse: () => ({ scheme: 'http', plan: planClickhouse(dataDir, port) }),
    anvil: () => ({ scheme: 'http', plan: planAnvil(dataDir, port, options.anvil ?? []) }),
  }
  const { scheme, plan } = single[service]()
  const urls = [`${scheme}://127.0.0.1:${port}`]
  return { group: { ...base, urls, isFormed: async () => true }, plans: [plan] }
}
