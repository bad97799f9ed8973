/** In place of a pair: all pairs of a quote asset. Their trades are summed up as one, for there are too many pairs. */
export const ALL_PAIRS = ''

/** Text that was joined has to be hashed anew for every look-up; what comes again and again is joined once. */
const MAX_SUBJECTS = 100_000
const subjects = { pair: new Map<string, string>(), token: new Map<string, string>() }

/** Whose windows they are. A pool can itself be a token: the letter keeps them apart. */
export function subjectOf(kind: 'pair' | 'token', id: string): string {
  const known = subjects[kind].get(id)
  if (known !== undefined) return known
  const subject = `${kind === 'pair' ? 'p' : 't'}${id}`
  if (subjects[kind].size >= MAX_SUBJECTS) subjects[kind].clear()
  subjects[kind].set(id, subject)
  return subject
}

/** Of the trades in one pair, or of a quote asset's trades in all of them. */
export function subjectOfTrades(pair: string, token: string): string {
  return pair === ALL_PAIRS ? subjectOf('token', token) : subjectOf('pair', pair)
}
