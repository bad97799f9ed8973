import type { ContractReport } from '../../domain/contract-report.ts'

/** JSON, so that SQL can query its parts; bigints become strings. */
export function reportText(report: ContractReport): string {
  return JSON.stringify(report, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
}

export function reportOf(text: string): ContractReport {
  return JSON.parse(text, (name, value: unknown) =>
    name === 'issuedRaw' ? BigInt(value as string) : value,
  ) as ContractReport
}
