/** A note is something to know about; with a problem, a role stops or waits. */
export type Level = 'ok' | 'note' | 'problem'

export type Finding = {
  /** The part that was checked: `Redis`, `base 0:node.example`. */
  readonly about: string
  readonly level: Level
  readonly text: string
  /** What to do about it. */
  readonly advice?: string
}

export function ok(about: string, text: string): Finding {
  return { about, level: 'ok', text }
}

export function note(about: string, text: string, advice: string): Finding {
  return { about, level: 'note', text, advice }
}

export function problem(about: string, text: string, advice: string): Finding {
  return { about, level: 'problem', text, advice }
}
