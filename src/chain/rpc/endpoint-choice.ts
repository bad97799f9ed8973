import type { EndpointAsker, Member } from './endpoint-asker.ts'

/** An endpoint in use is left only for one that is clearly better: two nodes may see two branches for a while. */
const LOYALTY = 0.7

/** Chooses the endpoint for the next request. */
export class EndpointChoice {
  readonly #asker: EndpointAsker
  readonly #lookEveryMs: number
  /** The endpoint of the last valid response. */
  current: Member | undefined

  constructor(asker: EndpointAsker, lookEveryMs: number) {
    this.#asker = asker
    this.#lookEveryMs = lookEveryMs
  }

  /** The best endpoint that may be asked now; waits for a turn if all are busy. undefined: none is left. */
  async acquire(
    tried: ReadonlySet<Member>,
    untilMs: number,
    isBackground: boolean,
  ): Promise<Member | undefined> {
    for (;;) {
      this.#asker.parts.signal.throwIfAborted()
      const now = this.#asker.parts.now()
      const best = this.choose(tried)
      if (best !== undefined) {
        const waitMs = best.endpoint.waitMs(now, isBackground)
        if (waitMs === 0) return best
        if (now + waitMs > untilMs) return undefined
        await this.#asker.change(waitMs)
        continue
      }
      const left = this.#asker.parts.members.filter((member) => !tried.has(member))
      if (left.some(({ endpoint }) => endpoint.isProven)) {
        if (now >= untilMs) return undefined
        await this.#asker.change(untilMs - now)
        continue
      }
      const isLastResort = this.#asker.parts.members.every(({ endpoint }) => !endpoint.isProven)
      const due = left.filter((member) => {
        return this.#asker.isLooking(member) || member.endpoint.isDue(now, isLastResort)
      })
      if (due.length === 0 || !(await this.firstUp(due))) return undefined
    }
  }

  choose(excluded: ReadonlySet<Member>): Member | undefined {
    const now = this.#asker.parts.now()
    const usualMs = this.#asker.usualMs()
    let best: { member: Member; cost: number } | undefined
    for (const member of this.#asker.parts.members) {
      const { endpoint } = member
      if (excluded.has(member) || !endpoint.isProven || endpoint.isFull) continue
      const cost = endpoint.cost(now, usualMs) * (member === this.current ? LOYALTY : 1)
      if (best === undefined || cost < best.cost) best = { member, cost }
    }
    return best?.member
  }

  /** Resolves as soon as one of them works, false when none does. */
  async firstUp(members: readonly Member[]): Promise<boolean> {
    const looks = members.map(async (member) => {
      await this.#asker.look(member)
      if (!member.endpoint.isProven) throw new Error('does not work')
    })
    return Promise.any(looks).then(
      () => true,
      () => false,
    )
  }

  /** Finds out in passing whether paused endpoints work again and how fresh and fast the idle ones are. */
  lookAround(): void {
    const now = this.#asker.parts.now()
    for (const member of this.#asker.parts.members) {
      const { endpoint } = member
      const isStale = now - endpoint.headSeenAt >= this.#lookEveryMs
      if (endpoint.isProven ? isStale : endpoint.isDue(now, false)) void this.#asker.look(member)
    }
  }
}
