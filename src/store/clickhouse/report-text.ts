import type { ContractReport } from '../../domain/contract-report.ts'

const BIGINTS: readonly string[] = ['issuedRaw', 'maxRaw']

/** JSON, so that SQL can query its parts; bigints become strings. */
export function reportText(report: ContractReport): string {
  return JSON.stringify(report, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
}

export function reportOf(text: string): ContractReport {
  return JSON.parse(text, (name, value: unknown) =>
    BIGINTS.includes(name) ? BigInt(value as string) : value,
  ) as ContractReport
}
