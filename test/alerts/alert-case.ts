/** Series in the notation of promtool. */
export type Series = Readonly<Record<string, string>>

export type AlertCase = {
  readonly alert: string
  /** Between two values, and between two evaluations; 1 unless given. */
  readonly everyMinutes?: number
  readonly fires: {
    readonly series: Series
    readonly at: string
    /** Besides `severity`. */
    readonly labels: Readonly<Record<string, string>>
    readonly summary: string
  }
  /** By reason. */
  readonly silent: Readonly<Record<string, { readonly series: Series; readonly at: string }>>
}
