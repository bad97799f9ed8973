import { readFileSync } from 'node:fs'
import type { ClickHouseClient } from '@clickhouse/client'
import { guardClickhouse } from '../failure.ts'
import type { Row } from './records.ts'

export type Question = {
  readonly params: Record<string, unknown>
  /** More rows than this are an error, not an answer. */
  readonly maxRows: number
  readonly maxSeconds: number
}

/** What a server that does not even say that it took too long is given on top. */
const GRACE_SECONDS = 1

/** Asks what a file beside this one says; its parameters are typed there, never pasted in. */
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
