import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

export const RULES_FILE = fileURLToPath(new URL('../../deploy/prometheus/alerts.yaml', import.meta.url))

export type AlertRule = {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}
export type RecordingRule = { readonly record: string; readonly expr: string }
export type RuleFile = {
  readonly groups: readonly {
    readonly name: string
    readonly rules: readonly (AlertRule | RecordingRule)[]
  }[]
}

export function readRules(): RuleFile {
  return parse(readFileSync(RULES_FILE, 'utf8')) as RuleFile
}

export function rulesOf({ groups }: RuleFile): (AlertRule | RecordingRule)[] {
  return groups.flatMap(({ rules }) => rules)
}

export function alertsOf(file: RuleFile): AlertRule[] {
  return rulesOf(file).filter((rule) => 'alert' in rule)
}
