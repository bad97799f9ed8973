import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { CursorStore } from './streams/cursor-store.ts'

/**
 * Stores the cursors of a program in one JSON file, which is replaced atomically. Cursors that come within `delayMs` are
 * written together: after a crash, events of that time are delivered again. None is lost.
 */
export function fileCursors(path: string, delayMs = 200): CursorStore & { flush(): void } {
  const cursors = new Map<string, string>(Object.entries(read(path)))
  let writing: Promise<void> | undefined
  const flush = (): void => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(`${path}.new`, JSON.stringify(Object.fromEntries(cursors)))
    renameSync(`${path}.new`, path)
  }
  return {
    get: (stream) => cursors.get(stream),
    set: (stream, cursor) => {
      cursors.set(stream, cursor)
      writing ??= later(delayMs, () => {
        writing = undefined
        flush()
      })
      return writing
    },
    flush,
  }
}

function later(ms: number, work: () => void): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms)).then(work)
}

function read(path: string): Record<string, string> {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>
  } catch (error) {
    if ((error as { readonly code?: string }).code === 'ENOENT') return {}
    throw error
  }
}
