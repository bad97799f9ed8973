import type { ContractReport } from '../../domain/contract-report.ts'

/** As JSON, so that it can be asked for by its parts in SQL; numbers too large for that are text. */
export function reportText(report: ContractReport): string {
  return JSON.stringify(report, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
}

export function reportOf(text: string): ContractReport {
  return JSON.parse(text, (name, value: unknown) =>
    name === 'issuedRaw' ? BigInt(value as string) : value,
  ) as ContractReport
}
