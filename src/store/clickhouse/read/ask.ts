import { readFileSync } from 'node:fs'
import type { ClickHouseClient } from '@clickhouse/client'
import { guardClickhouse } from '../failure.ts'
import type { Row } from './records.ts'

export type Question = {
  readonly params: Record<string, unknown>
  /** More rows than this are an error. */
  readonly maxRows: number
  readonly maxSeconds: number
}

/** Extra time before the client gives up on a server that does not enforce `maxSeconds` itself. */
const GRACE_SECONDS = 1

/** Runs the query in the SQL file of this name, with typed parameters that are never interpolated. */
export type Ask = (file: string, question: Question) => Promise<Row[]>

export function createAsk(client: ClickHouseClient): Ask {
  const texts = new Map<string, string>()
  const textOf = (file: string): string => {
    const text = texts.get(file) ?? readFileSync(new URL(`./${file}.sql`, import.meta.url), 'utf8')
    texts.set(file, text)
    return text
  }
  return (file, { params, maxRows, maxSeconds }) =>
    guardClickhouse(async () => {
      const answer = await client.query({
        query: textOf(file),
        query_params: params,
        format: 'JSONEachRow',
        abort_signal: AbortSignal.timeout(Math.ceil((maxSeconds + GRACE_SECONDS) * 1_000)),
        clickhouse_settings: {
          max_execution_time: maxSeconds,
          max_result_rows: String(maxRows),
          result_overflow_mode: 'throw',
          date_time_output_format: 'unix_timestamp',
        },
      })
      return answer.json<Row>()
    })
}
