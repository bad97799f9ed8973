/** Units of Grafana. */
type Unit = 'short' | 's' | 'bytes' | 'reqps' | 'ops' | 'percentunit' | 'bool_yes_no'

export type Panel = {
  readonly title: string
  readonly unit: Unit
  /** Query and legend; `$chain` is the chosen chain, `$__rate_interval` a window that fits the resolution. */
  readonly queries: Readonly<Record<string, string>>
  /** A number instead of a curve. */
  readonly isStat?: boolean
}

export type Dashboard = {
  /** Name of the file, and the id in links. */
  readonly name: string
  readonly title: string
  readonly rows: Readonly<Record<string, readonly Panel[]>>
}

const SOURCE = { type: 'prometheus', uid: `\${datasource}` }
const COLUMNS = 24
const WIDTH = 8
const HEIGHT = 8
const STAT_HEIGHT = 5

/** The JSON that Grafana imports. */
export function grafanaDashboard({ name, title, rows }: Dashboard): object {
  const panels: object[] = []
  let top = 0
  for (const [row, members] of Object.entries(rows)) {
    const id = (): number => panels.length + 1
    panels.push({
      id: id(),
      type: 'row',
      title: row,
      collapsed: false,
      gridPos: { h: 1, w: COLUMNS, x: 0, y: top },
      panels: [],
    })
    top += 1
    const height = members.every(({ isStat }) => isStat) ? STAT_HEIGHT : HEIGHT
    members.forEach((panel, index) => {
      const x = (index * WIDTH) % COLUMNS
      const y = top + Math.floor((index * WIDTH) / COLUMNS) * height
      panels.push({ id: id(), ...grafanaPanel(panel), gridPos: { h: height, w: WIDTH, x, y } })
    })
    top += Math.ceil((members.length * WIDTH) / COLUMNS) * height
  }
  return {
    uid: `chaintape-${name}`,
    title: `Chaintape: ${title}`,
    tags: ['chaintape'],
    schemaVersion: 39,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    links: [
      {
        type: 'dashboards',
        title: 'Chaintape',
        tags: ['chaintape'],
        asDropdown: true,
        keepTime: true,
        includeVars: true,
      },
    ],
    templating: { list: [sourceVariable, chainVariable] },
    panels,
  }
}

const sourceVariable = { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' }
const chainVariable = {
  name: 'chain',
  label: 'Chain',
  type: 'query',
  datasource: SOURCE,
  query: { query: 'label_values(chaintape_reader_tip_block, chain)', refId: 'chain' },
  refresh: 2,
  sort: 1,
  multi: true,
  includeAll: true,
  allValue: '.+',
  current: { text: 'All', value: '$__all' },
}

function grafanaPanel({ title, unit, queries, isStat = false }: Panel): object {
  const defaults = isStat ? { unit } : { unit, min: 0, custom: { fillOpacity: 10, showPoints: 'never' } }
  const targets = Object.entries(queries).map(([expr, legendFormat], index) => ({
    ...{ refId: String.fromCharCode('A'.charCodeAt(0) + index), datasource: SOURCE },
    ...{ expr, legendFormat, ...(isStat ? { instant: true, range: false } : {}) },
  }))
  const reduceOptions = { calcs: ['lastNotNull'], values: false }
  return {
    type: isStat ? 'stat' : 'timeseries',
    title,
    datasource: SOURCE,
    fieldConfig: { defaults, overrides: [] },
    options: isStat
      ? { reduceOptions, colorMode: 'none', graphMode: 'none', textMode: 'value_and_name' }
      : { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets,
  }
}

/** The rate of a counter of the chosen chains, summed by these labels. */
export function rate(metric: string, ...by: string[]): string {
  return `sum by (${by.join(', ')}) (rate(${metric}{chain=~"$chain"}[$__rate_interval]))`
}

/** The same for counters without the label chain. */
export function rateOfAll(metric: string, ...by: string[]): string {
  return `sum by (${by.join(', ')}) (rate(${metric}[$__rate_interval]))`
}

/** The largest value of a gauge of the chosen chains, by these labels. */
export function gauge(metric: string, ...by: string[]): string {
  return `max by (${by.join(', ')}) (${metric}{chain=~"$chain"})`
}

export function p99(metric: string, selector: string, ...by: string[]): string {
  return quantile(0.99, metric, selector, ...by)
}

export function quantile(share: number, metric: string, selector: string, ...by: string[]): string {
  return `histogram_quantile(${share}, sum by (${[...by, 'le'].join(', ')}) (rate(${metric}_bucket${selector}[$__rate_interval])))`
}
