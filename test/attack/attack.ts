/** Settings of an attacker; sent to another process, so they are plain values. */
export type Target = {
  readonly port: number
  /** A valid key: an attacker may be a customer. */
  readonly apiKey: string
  readonly pairs: readonly string[]
  /** Addresses that it comes from begin so: each attack has its own. */
  readonly network: string
  readonly seconds: number
  /** Number of attackers in a full run. */
  readonly share: number
}

export type Attack = {
  readonly name: string
  /** Attacks until its time is over, and returns its result. */
  readonly run: (target: Target) => Promise<Tally>
  /** Each of these must come of it; what is in neither list must not. */
  readonly must: readonly string[]
  readonly may?: readonly string[]
}

/** How often each thing happened. */
export class Tally {
  readonly counts: Record<string, number> = {}

  add(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1
  }
}

export const AS_EXPECTED = 'as expected'

/** What did not come of an attack although it must, and what came although it must not. */
export function faultsOf({ must, may = [] }: Attack, counts: Readonly<Record<string, number>>): string[] {
  const missing = must.filter((what) => !Object.hasOwn(counts, what)).map((what) => `never: ${what}`)
  const allowed = new Set([...must, ...may])
  const others = Object.entries(counts).filter(([what]) => !allowed.has(what))
  return [...missing, ...others.map(([what, count]) => `${count} times: ${what}`)]
}

export function scaled(count: number, { share }: Target): number {
  return Math.max(1, Math.round(count * share))
}

export function addressOf({ network }: Target, index: number): string {
  return `${network}.${1 + (index % 20)}`
}

/** So many attackers at once, each again and again until the time is over. */
export async function crowd(
  target: Target,
  count: number,
  once: (index: number, tally: Tally, endsAt: number, round: number) => Promise<void>,
): Promise<Tally> {
  const tally = new Tally()
  const endsAt = performance.now() + target.seconds * 1_000
  await Promise.all(
    Array.from({ length: scaled(count, target) }, async (_, index) => {
      let round = 0
      do await once(index, tally, endsAt, round++)
      while (performance.now() < endsAt)
    }),
  )
  return tally
}
