import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { grafanaDashboard } from '../../dev/dashboards/dashboard.ts'
import { DASHBOARDS, DASHBOARDS_FOLDER } from '../../dev/dashboards.ts'

test('deploy/grafana has what dev/dashboards.ts writes; npm run dashboards writes it', () => {
  const files = DASHBOARDS.map(({ name }) => `${name}.json`)
  assert.deepEqual(readdirSync(DASHBOARDS_FOLDER).sort(), files.sort())
  for (const dashboard of DASHBOARDS) {
    const written = readFileSync(new URL(`${dashboard.name}.json`, DASHBOARDS_FOLDER), 'utf8')
    assert.deepEqual(JSON.parse(written), grafanaDashboard(dashboard), dashboard.name)
  }
})

test('panels of a dashboard do not overlap and have ids of their own', () => {
  for (const dashboard of DASHBOARDS) {
    const { panels } = grafanaDashboard(dashboard) as {
      panels: { id: number; gridPos: { x: number; y: number; w: number; h: number } }[]
    }
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
    )
    assert.equal(new Set(cells).size, cells.length, dashboard.name)
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length, dashboard.name)
  }
})
