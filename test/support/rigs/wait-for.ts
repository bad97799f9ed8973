import { QueryTimeout } from '../../../src/domain/errors.ts'

/** A loaded machine may need several times what a quiet one does; only a failing test waits this long. */
const PATIENCE_MS = 90_000

/** Polls until `look` gives something; fails with what was waited for. A query that took too long is asked again. */
export async function waitFor<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  timeoutMs = PATIENCE_MS,
): Promise<T> {
  const end = Date.now() + timeoutMs
  for (;;) {
    const found = await lookOnce(look)
    if (found !== undefined) return found
    if (Date.now() > end) throw new Error(`waited ${timeoutMs} ms for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 25))
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
