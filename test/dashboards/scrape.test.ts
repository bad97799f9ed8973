import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { DASHBOARDS } from '../../dev/dashboards.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { readRules, rulesOf } from '../alerts/rules.ts'
import { Scenario } from '../e2e/scenario.ts'
import { Pipeline } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { type ParsedQuery, readParsedQuery } from './parsed-query.ts'
import { type PrometheusServer, startPrometheus } from './prometheus-server.ts'
import { metricOf, type RoleMetric, readMetrics } from './role-metrics.ts'

type Query = { readonly place: string; readonly expr: string }
type ActiveAlert = {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

const REPO = fileURLToPath(new URL('../..', import.meta.url))
const ROLES = ['engine', 'gateway', 'reader', 'reconciler', 'writer']
const rules = readRules()
/** Given by Prometheus itself and by the recording rules. */
const OWN_METRICS = new Set([
  'up',
  'ALERTS',
  ...rulesOf(rules).flatMap((rule) => ('record' in rule ? rule.record : [])),
])
/** Given by the scrape, and by histograms. */
const TARGET_LABELS = ['job', 'role', 'instance', 'le']
const COUNTING = new Set(['rate', 'increase'])
const GAUGING = new Set(['deriv', 'min_over_time', 'max_over_time'])

const alertQueries = rulesOf(rules).map(
  (rule): Query => ({ place: 'alert' in rule ? rule.alert : rule.record, expr: rule.expr }),
)
const panelQueries = DASHBOARDS.flatMap(({ name, rows }) =>
  Object.values(rows)
    .flat()
    .flatMap(({ title, queries }) =>
      Object.keys(queries).map(
        (expr): Query => ({
          place: `${name}: ${title}`,
          expr: expr.replaceAll('$__rate_interval', '1m').replaceAll('$chain', '.+'),
        }),
      ),
    ),
)

const folder = mkdtempSync(join(tmpdir(), 'chaintape-prometheus-'))
const metrics = new Map<string, RoleMetric>()
let stack: Stack
let pipeline: Pipeline
let prometheus: PrometheusServer

before(async () => {
  stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
  const scenario = await Scenario.deploy(stack.rpcUrl)
  pipeline = new Pipeline(stack, 'watching')
  await pipeline.start('all')
  await scenario.tradeBlock()
  const { number, time } = await scenario.market.head()
  await pipeline.reaches(`/v2/pairs/${scenario.tokenPair}-local`, { number, time: Number(time) })
  const ports = await waitFor('the admin servers', () => {
    const lines = pipeline.role('all').linesOf('Admin server listening') as readonly {
      role?: string
      admin_port?: number
    }[]
    return lines.length < ROLES.length
      ? undefined
      : Object.fromEntries(lines.map(({ role = '', admin_port = 0 }) => [role, admin_port]))
  })
  assert.deepEqual(Object.keys(ports).sort(), ROLES)
  prometheus = await startPrometheus(folder, ports)
  for (const port of Object.values(ports))
    readMetrics(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text(), metrics)
})

after(async () => {
  await prometheus?.stop()
  await pipeline?.stop('SIGKILL')
  await stack?.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function parseQuery({ expr }: Query): Promise<ParsedQuery> {
  return readParsedQuery(await prometheus.get('parse_query', { query: expr }))
}

async function resultsOf(expr: string): Promise<number> {
  const { result } = await prometheus.get<{ result: unknown[] }>('query', { query: expr })
  return result.length
}

async function activeAlerts(name: string): Promise<ActiveAlert[]> {
  const { alerts } = await prometheus.get<{ alerts: ActiveAlert[] }>('alerts')
  return alerts.filter(({ labels }) => labels['alertname'] === name)
}

test('Prometheus scrapes every role', async () => {
  type Target = { readonly health: string; readonly labels: Readonly<Record<string, string>> }
  const isUp = async (): Promise<Target[] | undefined> => {
    const { activeTargets } = await prometheus.get<{ activeTargets: Target[] }>('targets')
    const isComplete = activeTargets.length === ROLES.length
    return isComplete && activeTargets.every(({ health }) => health === 'up') ? activeTargets : undefined
  }
  const targets = await waitFor('the scrapes', isUp)
  assert.deepEqual(targets.map(({ labels }) => labels['role']).sort(), ROLES)
})

test('Prometheus evaluates every rule without an error', async () => {
  type Rule = { readonly name: string; readonly health: string; readonly lastError?: string }
  const evaluated = await waitFor('the evaluations', async () => {
    const { groups } = await prometheus.get<{ groups: { rules: Rule[] }[] }>('rules')
    const all = groups.flatMap((group) => group.rules)
    return all.some(({ health }) => health === 'unknown') ? undefined : all
  })
  assert.deepEqual(
    evaluated.filter(({ health }) => health !== 'ok'),
    [],
  )
  assert.equal(evaluated.length, rulesOf(rules).length)
})

test('queries of alerts and dashboards name metrics and labels that the roles have', async () => {
  const labelsOf = (name: string): string[] => [...(metricOf(metrics, name)?.labels ?? []), ...TARGET_LABELS]
  const hasValues = (name: string): boolean => metricOf(metrics, name)?.hasValues === true
  const faults: string[] = []
  for (const query of [...alertQueries, ...panelQueries]) {
    const { selectors, groupings } = await parseQuery(query)
    for (const { metric, labels, within = '' } of selectors) {
      if (OWN_METRICS.has(metric)) continue
      const known = metricOf(metrics, metric)
      if (known === undefined) faults.push(`${query.place}: no role has ${metric}`)
      else if (COUNTING.has(within) && known.type === 'gauge')
        faults.push(`${query.place}: ${within} of ${metric}, which is a gauge`)
      else if (GAUGING.has(within) && known.type !== 'gauge')
        faults.push(`${query.place}: ${within} of ${metric}, which is a ${known.type}`)
      if (!hasValues(metric)) continue
      const strange = labels.filter((label) => !labelsOf(metric).includes(label))
      if (strange.length > 0) faults.push(`${query.place}: ${metric} has no label ${strange.join(', ')}`)
    }
    for (const grouping of groupings) {
      if (!grouping.selectors.every(({ metric }) => hasValues(metric))) continue
      const labels = grouping.selectors.flatMap(({ metric }) => labelsOf(metric))
      const strange = grouping.labels.filter((label) => !labels.includes(label))
      if (strange.length > 0) faults.push(`${query.place}: grouped by ${strange.join(', ')}`)
    }
  }
  assert.deepEqual(faults, [])
})

test('every panel whose metrics have values shows something', async () => {
  let shown = 0
  for (const query of panelQueries) {
    const { selectors } = await parseQuery(query)
    if (!selectors.every(({ metric }) => metric === 'up' || metricOf(metrics, metric)?.hasValues)) {
      // Valid nevertheless.
      await resultsOf(query.expr)
      continue
    }
    await waitFor(`data of ${query.place}`, async () =>
      (await resultsOf(query.expr)) > 0 ? true : undefined,
    )
    shown += 1
  }
  assert.ok(shown > panelQueries.length / 2, `${shown} of ${panelQueries.length} panels have data`)
})

test('every metric of a role is on a dashboard, and every metric in the documents exists', async () => {
  const parsed = await Promise.all(panelQueries.map(parseQuery))
  const onDashboards = new Set(parsed.flatMap(({ selectors }) => selectors.map(({ metric }) => metric)))
  const ours = [...metrics.keys()].filter((name) => name.startsWith('chaintape_'))
  assert.ok(ours.length > 40)
  const missing = ours.filter((name) => !onDashboards.has(name) && !onDashboards.has(`${name}_bucket`))
  assert.deepEqual(missing, [], 'on no dashboard')
  const pages = globSync(['docs/*.md', 'README.md'], { cwd: REPO })
  const strange = pages.flatMap((page) =>
    Array.from(
      readFileSync(join(REPO, page), 'utf8').matchAll(/`(chaintape_[a-z_]+)/g),
      ([, name = '']) => name,
    )
      .filter((name) => metricOf(metrics, name) === undefined)
      .map((name) => `${page}: ${name}`),
  )
  assert.deepEqual(strange, [], 'no role has these')
})

test('alerts follow what happens to the roles', async () => {
  // The blocks of the scenario are of 2025, so they are old, and all else is well.
  const [stale] = await waitFor('the alert', async () => {
    const alerts = await activeAlerts('ChaintapeGatewayStale')
    return alerts.length > 0 ? alerts : undefined
  })
  assert.match(
    stale?.annotations['summary'] ?? '',
    /^The latest block of local at the gateway \S+ is \d+d .* old$/,
  )
  assert.deepEqual(await activeAlerts('ChaintapeRoleDown'), [])
  assert.deepEqual(await activeAlerts('ChaintapeNatsDisconnected'), [])

  await stack.kill('nats')
  const cutOff = await waitFor('the alerts of all roles', async () => {
    const alerts = await activeAlerts('ChaintapeNatsDisconnected')
    return alerts.length === ROLES.length ? alerts : undefined
  })
  assert.deepEqual(cutOff.map(({ labels }) => labels['role']).sort(), ROLES)

  await pipeline.role('all').kill('SIGKILL')
  const down = await waitFor('the alerts of all roles', async () => {
    const alerts = await activeAlerts('ChaintapeRoleDown')
    return alerts.length === ROLES.length ? alerts : undefined
  })
  assert.deepEqual(down.map(({ labels }) => labels['role']).sort(), ROLES)
})
