import { QueryTimeout } from '../../../src/domain/errors.ts'

/** A loaded machine may need several times what a quiet one does; only a failing test waits this long. */
const PATIENCE_MS = 90_000
const PAUSE_MS = 25
const MAX_PAUSE_MS = 500

/**
 * Polls until `look` gives something; fails with what was waited for. A query that took too long is asked again. A look that
 * takes long is repeated after as long a pause, so that it does not slow down what it waits for.
 */
export async function waitFor<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  timeoutMs = PATIENCE_MS,
): Promise<T> {
  const end = Date.now() + timeoutMs
  for (;;) {
    const lookedAt = Date.now()
    const found = await lookOnce(look)
    if (found !== undefined) return found
    if (Date.now() > end) throw new Error(`waited ${timeoutMs} ms for ${what}`)
    const pauseMs = Math.max(PAUSE_MS, Math.min(MAX_PAUSE_MS, Date.now() - lookedAt))
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

async function lookOnce<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await look()
  } catch (error) {
    if (error instanceof QueryTimeout) return undefined
    throw error
  }
}
