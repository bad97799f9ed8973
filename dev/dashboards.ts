/** `npm run dashboards` writes the dashboards for Grafana to deploy/grafana. */
import { writeFileSync } from 'node:fs'
import { type Dashboard, grafanaDashboard } from './dashboards/dashboard.ts'
import { engineWriter } from './dashboards/engine-writer.ts'
import { gateway } from './dashboards/gateway.ts'
import { overview } from './dashboards/overview.ts'
import { reader } from './dashboards/reader.ts'

export const DASHBOARDS: readonly Dashboard[] = [overview, reader, engineWriter, gateway]
export const DASHBOARDS_FOLDER = new URL('../deploy/grafana/', import.meta.url)

if (import.meta.main) {
  for (const dashboard of DASHBOARDS) {
    const file = new URL(`${dashboard.name}.json`, DASHBOARDS_FOLDER)
    writeFileSync(file, `${JSON.stringify(grafanaDashboard(dashboard), undefined, 2)}\n`)
  }
}
