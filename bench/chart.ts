/** node bench/chart.ts: draws the kept table as docs/images/bench.svg. */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type KeptTable, readTable, shown } from './results.ts'

export const CHART = fileURLToPath(new URL('../docs/images/bench.svg', import.meta.url))

type Row = { readonly bench: string; readonly name: string; readonly ratio: number }

const ROW = 22
const TOP = 34
const LABELS = 560
const BARS = 300
const VALUES = 60
const [LOWEST, HIGHEST] = [0.001, 100]

/** Each figure that is a speed, as a share of the bare engine's, on a logarithmic scale. */
export function chartOf(table: KeptTable): string {
  const rows = Object.entries(table).flatMap(([bench, { figures }]): Row[] =>
    Object.entries(figures)
      .filter(([, { direction }]) => direction === 'at least')
      .map(([name, { ratio }]) => ({ bench, name, ratio })),
  )
  const height = TOP + rows.length * ROW + 8
  const ticks = [0.001, 0.01, 0.1, 1, 10, 100].flatMap((ratio) => [
    line(ratio, height),
    `<text class="tick" x="${place(ratio)}" y="20">${ratio}</text>`,
  ])
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${LABELS + BARS + VALUES} ${height}" role="img">`,
    '<title>Speed of each part, as a share of the bare engine</title>',
    STYLE,
    ...ticks,
    ...rows.flatMap(drawn),
    '</svg>',
  ].join('\n')}\n`
}

/** On a light and on a dark page. */
const STYLE = `<style>
text { font: 12px system-ui, sans-serif; fill: #24292f }
.tick { text-anchor: middle; fill: #6e7781 }
.label { text-anchor: end }
.bench { fill: #6e7781 }
line { stroke: #d0d7de }
.even { stroke: #6e7781 }
rect { fill: #2f81f7 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .tick, .bench { fill: #8d96a0 } line { stroke: #30363d } }
</style>`

function drawn({ bench, name, ratio }: Row, at: number): string[] {
  const y = TOP + at * ROW
  const [from, to] = [place(1), place(ratio)]
  const label = `<tspan class="bench">${bench}</tspan> ${escaped(name)}`
  return [
    `<text class="label" x="${LABELS - 12}" y="${y + 14}">${label}</text>`,
    `<rect x="${Math.min(from, to)}" y="${y + 4}" width="${Math.abs(to - from)}" height="${ROW - 9}" rx="2"/>`,
    `<text x="${LABELS + BARS + 8}" y="${y + 14}">${shown(ratio)}</text>`,
  ]
}

function line(ratio: number, height: number): string {
  const kind = ratio === 1 ? ' class="even"' : ''
  return `<line${kind} x1="${place(ratio)}" x2="${place(ratio)}" y1="26" y2="${height - 4}"/>`
}

function place(ratio: number): number {
  const share = Math.log(ratio / LOWEST) / Math.log(HIGHEST / LOWEST)
  return Math.round(LABELS + BARS * Math.min(1, Math.max(0, share)))
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(CHART, chartOf(readTable()))
