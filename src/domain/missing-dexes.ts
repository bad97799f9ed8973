import type { ChainSettings, DexDeployment } from './chain-settings.ts'

/** The settings that a message of BLOCKS sets for the blocks after it. */
export type SettingsAt = { readonly sequence: number; readonly settings: ChainSettings }

/** Messages of BLOCKS after one sequence and before another, whose blocks may lack logs of an exchange. */
export type Gap = { readonly after: number; readonly before: number }

/**
 * The exchanges of the last settings whose logs are missing from earlier blocks, because those were read by other
 * settings. `history` has all settings in order. Blocks before the first ones count as read by them.
 */
export class MissingDexes {
  readonly #history: readonly SettingsAt[]
  readonly #last: SettingsAt | undefined

  constructor(history: readonly SettingsAt[]) {
    this.#history = history
    this.#last = history.at(-1)
  }

  /** Every exchange that is missing anywhere, and where. */
  get all(): ReadonlyMap<DexDeployment, Gap> {
    const gaps = new Map<DexDeployment, Gap>()
    for (const dex of this.#last?.settings.dexes ?? []) {
      const without = this.#history.flatMap(({ settings, sequence }, index) => {
        const next = this.#history[index + 1]
        const isRead = settings.dexes.some((row) => isSame(row, dex) && hasBlocksOf(row, dex))
        return next === undefined || isRead
          ? []
          : [{ after: index === 0 ? 0 : sequence, before: next.sequence }]
      })
      const [first, last] = [without[0], without.at(-1)]
      if (first !== undefined && last !== undefined)
        gaps.set(dex, { after: first.after, before: last.before })
    }
    return gaps
  }

  /** Those that this block lacks; `sequence` is its place in BLOCKS. */
  at(sequence: number, block: number): DexDeployment[] {
    const by = this.#history.findLast((each) => each.sequence < sequence) ?? this.#history[0]
    if (by === undefined || this.#last === undefined || by === this.#last) return []
    return this.#last.settings.dexes.filter(
      (dex) => covers(dex, block) && !by.settings.dexes.some((row) => isSame(row, dex) && covers(row, block)),
    )
  }
}

/** Whether both select the same logs, apart from their ranges of blocks. */
function isSame(one: DexDeployment, other: DexDeployment): boolean {
  return (['protocol', 'factory', 'initCodeHash', 'deployer', 'positionManager'] as const).every(
    (field) => one[field] === other[field],
  )
}

function covers(
  { fromBlock = 0, untilBlock = Number.MAX_SAFE_INTEGER }: DexDeployment,
  block: number,
): boolean {
  return block >= fromBlock && block <= untilBlock
}

function hasBlocksOf(row: DexDeployment, dex: DexDeployment): boolean {
  return covers(row, dex.fromBlock ?? 0) && covers(row, dex.untilBlock ?? Number.MAX_SAFE_INTEGER)
}
