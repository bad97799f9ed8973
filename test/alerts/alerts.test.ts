import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import type { AlertCase, Series } from './alert-case.ts'
import { gatewayCases } from './gateway-cases.ts'
import { readerCases } from './reader-cases.ts'
import { reconcileCases } from './reconcile-cases.ts'
import { roleCases } from './role-cases.ts'
import { type AlertRule, alertsOf, type RuleFile, readRules } from './rules.ts'
import { storeCases } from './store-cases.ts'

const PROMETHEUS_FILE = fileURLToPath(new URL('../../deploy/prometheus/prometheus.yaml', import.meta.url))
const DOCS = new URL('../../docs/', import.meta.url)

const file = readRules()
const alerts = alertsOf(file)
const cases = [...roleCases, ...readerCases, ...storeCases, ...gatewayCases, ...reconcileCases]
const folder = mkdtempSync(join(tmpdir(), 'chaintape-alerts-'))
after(() => rmSync(folder, { recursive: true, force: true }))

function promtool(...args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { encoding: 'utf8' })
  if (error !== undefined)
    throw new Error(`cannot start promtool; run dev/setup and source dev/.env.sh (${error.message})`)
  return { status, output: `${stdout}${stderr}` }
}

function ruleOf(name: string): AlertRule {
  const rule = alerts.find(({ alert }) => alert === name)
  assert.ok(rule, `alerts.yaml has no alert ${name}`)
  return rule
}

/** A case in the format of `promtool test rules`. */
function promtoolTest({ alert, everyMinutes = 1, fires, silent }: AlertCase, rulesFile: string): object {
  const { labels, annotations } = ruleOf(alert)
  const expected = {
    exp_labels: { ...fires.labels, ...labels },
    exp_annotations: { ...annotations, summary: fires.summary },
  }
  const interval = `${everyMinutes}m`
  const unit = (name: string, series: Series, at: string, exp_alerts: object[]): object => ({
    name: `${alert}: ${name}`,
    interval,
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [{ eval_time: at, alertname: alert, exp_alerts }],
  })
  const tests = [
    unit('fires', fires.series, fires.at, [expected]),
    ...Object.entries(silent).map(([reason, { series, at }]) => unit(`silent: ${reason}`, series, at, [])),
  ]
  return { rule_files: [rulesFile], evaluation_interval: interval, tests }
}

/** Each case with its own alert alone: promtool evaluates all rules of a file at every step. */
function testRules(rules: RuleFile): { status: number | null; output: string } {
  const tests = cases.map((each, index) => {
    const rulesFile = join(folder, `rules-${index}.yaml`)
    const testFile = join(folder, `test-${index}.yaml`)
    const groups = rules.groups.map((group) => ({
      ...group,
      rules: group.rules.filter((rule) => 'record' in rule || rule.alert === each.alert),
    }))
    writeFileSync(rulesFile, stringify({ groups }))
    writeFileSync(testFile, stringify(promtoolTest(each, rulesFile)))
    return testFile
  })
  return promtool('test', 'rules', ...tests)
}

/** All alerts with another condition. */
function withExpr(expr: string): RuleFile {
  const groups = file.groups.map((group) => ({
    ...group,
    rules: group.rules.map((rule) => ('alert' in rule ? { ...rule, expr } : rule)),
  }))
  return { groups }
}

test('prometheus.yaml and alerts.yaml are valid', () => {
  const { status, output } = promtool('check', 'config', '--lint=all', '--lint-fatal', PROMETHEUS_FILE)
  assert.equal(status, 0, output)
})

test('every alert fires when it should, with its labels and summary, and stays silent when it should', () => {
  const { status, output } = testRules(file)
  assert.equal(status, 0, output)
})

test('every alert has a case that fails if it never fires, and one that fails if it always does', () => {
  const names = alerts.map(({ alert }) => alert).sort()
  const failed = (output: string): string[] =>
    [...new Set(Array.from(output.matchAll(/alertname: (\w+)/g), ([, name = '']) => name))].sort()
  assert.deepEqual(failed(testRules(withExpr('vector(0) > 1')).output), names)
  // Alerts whose label sets differ would fail either way: only the silent cases count here.
  const always = testRules(withExpr('vector(1)')).output
  const silentFailed = [...always.matchAll(/name: (\w+): silent/g)].map(([, name = '']) => name)
  assert.deepEqual([...new Set(silentFailed)].sort(), names)
})

test('every alert says how urgent it is, what to do and where to read more', () => {
  for (const { alert, labels, annotations } of alerts) {
    assert.match(alert, /^Chaintape[A-Z]/)
    assert.deepEqual(Object.keys(labels), ['severity'], alert)
    assert.match(labels['severity'] ?? '', /^(critical|warning)$/, alert)
    assert.deepEqual(Object.keys(annotations), ['summary', 'action', 'runbook'], alert)
    const [, page = '', anchor] = /^docs\/(\w+\.md)#([\w-]+)$/.exec(annotations['runbook'] ?? '') ?? []
    assert.ok(anchorsOf(page).includes(anchor ?? ''), `${alert}: no section ${annotations['runbook']}`)
  }
})

test('operations.md describes every alert and no other', () => {
  const page = readFileSync(new URL('operations.md', DOCS), 'utf8')
  const rows = Array.from(page.matchAll(/^\| `(Chaintape\w+)` +\| (\w+) +\|/gm), ([, alert, severity]) => ({
    alert,
    severity,
  }))
  const byName = (one: { alert?: string | undefined }, other: { alert?: string | undefined }): number =>
    (one.alert ?? '') < (other.alert ?? '') ? -1 : 1
  const expected = alerts.map(({ alert, labels }) => ({ alert, severity: labels['severity'] }))
  assert.deepEqual(rows.sort(byName), expected.sort(byName))
})

function anchorsOf(page: string): string[] {
  const headings = readFileSync(new URL(page, DOCS), 'utf8').matchAll(/^#+ (.+)$/gm)
  return Array.from(headings, ([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}
