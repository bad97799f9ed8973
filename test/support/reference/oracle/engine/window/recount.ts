import { WINDOW_MINUTES } from '../../../../../../src/domain/window.ts'
import { type Distinct, type LastTimes, ROLES } from './makers.ts'

export const NOBODY: Distinct = { makers: 0, buyers: 0, sellers: 0 }

/**
 * How many more wallets the windows hold after a block. A wallet counts in a window if it is not there already, that
 * is, if its last trade lies before it. And it belongs to the minute of its last trade: with that one it will leave.
 */
export class Recount {
  readonly #minute: number
  readonly #entered = WINDOW_MINUTES.map(() => ({ ...NOBODY }) as Record<keyof Distinct, number>)
  /** By minute: how many more belong to it; less than none where they have come again. */
  readonly #moved = new Map<number, Record<keyof Distinct, number>>()

  constructor(minute: number) {
    this.#minute = minute
  }

  add(before: LastTimes, after: LastTimes): void {
    for (const role of ROLES) {
      const [was, is] = [before[role], after[role]]
      if (was === is) continue
      for (const [place, minutes] of WINDOW_MINUTES.entries()) {
        if (was === undefined || was <= this.#minute - minutes) this.#at(place)[role]++
      }
      if (was !== undefined) this.#belonging(was)[role]--
      this.#belonging(this.#minute)[role]++
    }
  }

  /** By window, shortest first. */
  get entered(): readonly Distinct[] {
    return this.#entered
  }

  get moved(): ReadonlyMap<number, Distinct> {
    return this.#moved
  }

  #at(place: number): Record<keyof Distinct, number> {
    return this.#entered[place] as Record<keyof Distinct, number>
  }

  #belonging(minute: number): Record<keyof Distinct, number> {
    const known = this.#moved.get(minute) ?? { ...NOBODY }
    this.#moved.set(minute, known)
    return known
  }
}

export function sumOfDistinct(a: Distinct | undefined, b: Distinct): Distinct {
  if (a === undefined) return b
  return { makers: a.makers + b.makers, buyers: a.buyers + b.buyers, sellers: a.sellers + b.sellers }
}
