/** How much a run measures: the full figures, a short form to compare with the kept table, or only whether it works. */
export type Form = 'full' | 'short' | 'smoke'

export const form: Form = formOf(process.argv)

/** The size of a market, table or batch in this run. */
export function sized<T>(sizes: Readonly<Record<Form, T>>): T {
  return sizes[form]
}

function formOf(args: readonly string[]): Form {
  if (args.includes('--smoke')) return 'smoke'
  return args.includes('--short') ? 'short' : 'full'
}
