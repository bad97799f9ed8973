/** Loaded before each test file: a process that a failed test keeps alive, by what it left open, ends all the same. */
import { after } from 'node:test'

/** Longer than any file needs to stop its servers. */
const GRACE_MS = 60_000

after(() => {
  // Does not keep the process alive itself.
  setTimeout(() => {
    console.error(`something is open ${GRACE_MS / 1_000} s after the last test`)
    process.exit(1)
  }, GRACE_MS).unref()
})
