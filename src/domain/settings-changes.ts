import type { ChainSettings, DexDeployment } from './chain-settings.ts'

/** What distinguishes two settings, as an operator would say it. */
export type SettingsChanges = {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly changed: readonly string[]
}

/** Rows by their names; a row with another value under the same name is a changed one. */
export function settingsChanges(before: ChainSettings, after: ChainSettings): SettingsChanges {
  const [old, now] = [rowsOf(before), rowsOf(after)]
  const added = [...now.keys()].filter((name) => !old.has(name))
  const removed = [...old.keys()].filter((name) => !now.has(name))
  const changed = [...now].filter(([name, value]) => old.has(name) && old.get(name) !== value)
  // Otherwise an added row would be reported as a change of all rows below it.
  const isReordered =
    added.length + removed.length === 0 && String([...old.keys()]) !== String([...now.keys()])
  return {
    added,
    removed,
    changed: [...changed.map(([name]) => name), ...(isReordered ? ['order of rows'] : [])],
  }
}

/** What the blocks before a change lack, one line for each kind of setting that changed. */
export function uncoveredPast({ added, removed, changed }: SettingsChanges, block: number): string[] {
  const names = [...added, ...removed, ...changed]
  const isAbout = (all: readonly string[], kind: string): boolean =>
    all.some((name) => name.startsWith(`${kind} `))
  return [
    ...(isAbout([...added, ...changed], 'dex')
      ? [`pools and trades of added or changed exchanges before block ${block}`]
      : []),
    ...(isAbout(removed, 'dex')
      ? [`pools of removed exchanges stay as they were before block ${block}`]
      : []),
    ...(isAbout(names, 'quote asset')
      ? [`prices and target tokens of pairs without an event since block ${block}`]
      : []),
    ...(isAbout(names, 'locker') ? [`locked amounts of tokens without a transfer since block ${block}`] : []),
    ...(isAbout(names, 'floor') || isAbout(names, 'rules') || isAbout(names, 'native')
      ? [`values before block ${block}`]
      : []),
  ]
}

function rowsOf(settings: ChainSettings): Map<string, string> {
  const { rules, dexes, quoteAssets, minDepthUsd, lockers, native } = settings
  return new Map([
    ...dexes.map((dex): [string, string] => [nameOf(dex), JSON.stringify(dex)]),
    ...quoteAssets.map(({ address, kind }): [string, string] => [`quote asset ${address}`, kind]),
    ...lockers.map((locker): [string, string] => [`locker ${locker}`, '']),
    ['floor min_depth_usd', String(minDepthUsd)],
    ['rules version', String(rules)],
    ...(native?.supplyRaw === undefined
      ? []
      : [[`native supply ${native.address}`, String(native.supplyRaw)] as const]),
  ])
}

function nameOf({ amm, protocol, factory, fromBlock }: DexDeployment): string {
  return `dex ${amm} (${protocol}, ${factory}${fromBlock === undefined ? '' : `, from ${fromBlock}`})`
}
