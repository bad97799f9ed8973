import { setTimeout as sleep } from 'node:timers/promises'
import { chance, pick, type Random, skewed, whole } from '../../src/sandbox/market/random.ts'
import { TimeoutError } from '../../src/sandbox/servers/process.ts'
import type { ProcessName, Stack } from '../../src/sandbox/servers/stack.ts'
import { RESTART_MS } from './restart.ts'
import type { InstanceName } from './role-instance.ts'
import type { Server } from './role-links.ts'
import { type ChaosWorld, DEEPEST_FORK, DISKS, type DiskName, INSTANCES } from './world.ts'

/** One fault. Everything about it is drawn before it strikes, so that a seed gives the same faults in the same order. */
export type Strike = {
  /** What is disturbed, and how: faults of one kind are counted together. */
  readonly kind: string
  /** The process that is disturbed, or the chain. */
  readonly victim: string
  /** With its durations and depths. */
  readonly name: string
  /** Recovery is counted from the strike; from other faults, from their end. */
  readonly isKill: boolean
  /** How long it lasts before it is healed. */
  readonly holdMs: number
  strike(world: ChaosWorld): Promise<void>
  heal(world: ChaosWorld): Promise<void>
}

type Process = Exclude<ProcessName, 'nats' | 'anvil'>
const NATS_NODES = ['nats-1', 'nats-2', 'nats-3'] as const
const ENGINES: readonly Process[] = [...NATS_NODES, 'redis', 'clickhouse']
const LINKS: readonly (readonly [InstanceName, Server])[] = [
  ...(['reader-1', 'reader-2'] as const).map((name) => [name, 'node'] as const),
  ...INSTANCES.map((name) => [name, 'nats'] as const),
  ...(['writer', 'gateway-1', 'gateway-2'] as const).flatMap((name) =>
    (['redis', 'clickhouse'] as const).map((server) => [name, server] as const),
  ),
]
const LONGEST_CUT_MS = 3_000
/** A NATS node that led the others notices after up to 20 s that they are gone: one partition in four may last that long. */
const LONGEST_PARTITION_MS = 25_000
/** A failed write shows when a state is next committed. */
const EXCUSED_MS = 15_000
const nothing = async (): Promise<void> => undefined

/** Draws faults: of a bag, each once before any comes again. */
export class Strikes {
  readonly #random: Random
  #kills: (() => Strike)[] = []
  #others: (() => Strike)[] = []

  constructor(random: Random) {
    this.#random = random
  }

  kill(): Strike {
    if (this.#kills.length === 0)
      this.#kills = this.#shuffled([
        ...INSTANCES.map((name) => () => killRole(name)),
        ...ENGINES.map((name) => () => killEngine(name)),
      ])
    return (this.#kills.pop() as () => Strike)()
  }

  /** A fault that kills nothing. */
  other(): Strike {
    if (this.#others.length === 0)
      this.#others = this.#shuffled([
        () => stopRole(pick(this.#random, INSTANCES), this.#ms(200, 3_000)),
        () => stopEngine(pick(this.#random, ENGINES), this.#ms(200, 3_000)),
        () => this.#cut('reset'),
        () => this.#cut('stalled'),
        () => this.#partition(),
        () => fork(whole(this.#random, 1, 8)),
        () => fork(this.#depth()),
        () => jumpClock(pick(this.#random, INSTANCES), this.#jumpMs(), this.#ms(500, 3_000)),
        () => fillDisk(pick(this.#random, DISKS), this.#ms(500, 3_000)),
      ])
    return (this.#others.pop() as () => Strike)()
  }

  #cut(how: 'reset' | 'stalled'): Strike {
    const [role, server] = pick(this.#random, LINKS)
    return cutOff(role, server, how, this.#ms(100, 3_000))
  }

  #partition(): Strike {
    const how = chance(this.#random, 0.5) ? 'reset' : 'stalled'
    const longest = chance(this.#random, 0.25) ? LONGEST_PARTITION_MS : LONGEST_CUT_MS
    return cutNode(whole(this.#random, 0, NATS_NODES.length - 1), how, this.#ms(500, longest))
  }

  #ms(low: number, high: number): number {
    return whole(this.#random, low, high)
  }

  /** One deep fork in four is as deep as can be. */
  #depth(): number {
    const depth = Math.round(skewed(this.#random, 9, DEEPEST_FORK))
    return chance(this.#random, 0.25) ? DEEPEST_FORK : depth
  }

  /** A second to a day, forwards or back. */
  #jumpMs(): number {
    const ms = Math.round(skewed(this.#random, 1_000, 86_400_000))
    return chance(this.#random, 0.5) ? ms : -ms
  }

  #shuffled<T>(list: readonly T[]): T[] {
    const left = [...list]
    return list.map(() => left.splice(whole(this.#random, 0, left.length - 1), 1)[0] as T)
  }
}

function killRole(name: InstanceName): Strike {
  const kind = `kill ${name}`
  return {
    kind,
    victim: name,
    name: kind,
    isKill: true,
    holdMs: 0,
    strike: (world) => world.role(name).kill(),
    heal: nothing,
  }
}

function killEngine(name: Process): Strike {
  const kind = `kill ${name}`
  return {
    ...{ kind, victim: name, name: kind, isKill: true, holdMs: RESTART_MS },
    strike: ({ stack }) => stack.kill(name),
    heal: ({ stack }) => restart(name, stack),
  }
}

/** As docs/operations.md says of a NATS node that does not follow the others, "Outdated replicas". */
async function restart(name: Process, stack: Stack): Promise<void> {
  try {
    await stack.restart(name)
  } catch (error) {
    if (!(error instanceof TimeoutError) || !name.startsWith('nats')) throw error
    console.log(`${name} is started once more: ${error.message}`)
    await stack.restart(name)
  }
}

function stopRole(name: InstanceName, holdMs: number): Strike {
  const kind = `stop ${name}`
  return {
    ...{ kind, victim: name, name: `${kind} for ${holdMs} ms`, isKill: false, holdMs },
    strike: async (world) => world.role(name).freeze(),
    heal: async (world) => world.role(name).resume(),
  }
}

function stopEngine(name: Process, holdMs: number): Strike {
  const kind = `stop ${name}`
  return {
    ...{ kind, victim: name, name: `${kind} for ${holdMs} ms`, isKill: false, holdMs },
    strike: ({ stack }) => stack.kill(name, 'SIGSTOP'),
    heal: ({ stack }) => stack.kill(name, 'SIGCONT'),
  }
}

function cutOff(role: InstanceName, server: Server, how: 'reset' | 'stalled', holdMs: number): Strike {
  const name = `${role} cut off from ${server} (${how}) for ${holdMs} ms`
  return {
    ...{ kind: `cut (${how})`, victim: role, name, isKill: false, holdMs },
    strike: async (world) => world.role(role).links.cut(server, how),
    heal: async (world) => world.role(role).links.restore(server),
  }
}

/** Its clients can still reach it. */
function cutNode(node: number, how: 'reset' | 'stalled', holdMs: number): Strike {
  const victim = NATS_NODES[node] ?? ''
  const name = `${victim} cut off from its cluster (${how}) for ${holdMs} ms`
  return {
    ...{ kind: 'partition', victim, name, isKill: false, holdMs },
    strike: async ({ natsLinks }) => natsLinks.cutOff(node, how),
    heal: async ({ natsLinks }) => natsLinks.restore(node),
  }
}

/** The blocks that are replaced are first seen by the gateways, unless something keeps these from it. */
function fork(depth: number): Strike {
  const SEEN_MS = 5_000
  return {
    ...{ kind: 'fork', victim: 'chain', name: `fork of ${depth} blocks`, isKill: false, holdMs: 0 },
    strike: (world) =>
      world.load.fork(depth, () => world.serves(world.chain.head, 'one', SEEN_MS).catch(() => undefined)),
    heal: nothing,
  }
}

function jumpClock(name: InstanceName, ms: number, holdMs: number): Strike {
  return {
    ...{ kind: 'clock', victim: name, isKill: false, holdMs },
    name: `clock of ${name} off by ${ms} ms for ${holdMs} ms`,
    strike: async (world) => world.role(name).jumpClock(ms),
    heal: async (world) => world.role(name).jumpClock(0),
  }
}

function fillDisk(name: DiskName, holdMs: number): Strike {
  return {
    ...{ kind: 'disk', victim: name, name: `disk of ${name} full for ${holdMs} ms`, isKill: false, holdMs },
    strike: async ({ disks, roles }) => {
      const role = INSTANCES.find((instance) => instance === name)
      const excused = role && roles.get(role)
      if (excused) excused.excusedUntilMs = performance.now() + holdMs + EXCUSED_MS
      disks.get(name)?.fill()
    },
    heal: async ({ disks, stack }) => {
      disks.get(name)?.empty()
      // Both have to be started again: docs/operations.md, "Full disks".
      if (name === 'nats-3' || name === 'clickhouse') await restart(name, stack)
    },
  }
}

/** Faults that did not happen, by what they disturb. */
export function notAmong(strikes: readonly Strike[]): string[] {
  const disturbed = (kind: string, victim: string): string =>
    kind.endsWith(` ${victim}`) ? kind : `${kind} ${victim}`
  const happened = new Set(strikes.map(({ kind, victim }) => disturbed(kind, victim)))
  const kinds: Readonly<Record<string, readonly string[]>> = {
    kill: [...INSTANCES, ...ENGINES],
    stop: [...INSTANCES, ...ENGINES],
    ...{ 'cut (reset)': INSTANCES, 'cut (stalled)': INSTANCES },
    ...{ partition: NATS_NODES, clock: INSTANCES, disk: DISKS, fork: ['chain'] },
  }
  return Object.entries(kinds).flatMap(([kind, victims]) => {
    const missing = victims.filter((victim) => !happened.has(disturbed(kind, victim)))
    if (missing.length === 0) return []
    return [missing.length === victims.length ? kind : `${kind} ${missing.join(', ')}`]
  })
}

/** Lets a fault happen from its strike to its end; `onCounted` is called when its recovery begins to count. */
export async function suffer(strike: Strike, world: ChaosWorld, onCounted: () => void): Promise<void> {
  if (strike.isKill) onCounted()
  await strike.strike(world)
  await sleep(strike.holdMs)
  await strike.heal(world)
  if (!strike.isKill) onCounted()
}
