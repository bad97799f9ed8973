/** node commit-forever.ts <dir>: commits to a state store until it is killed, and signals its parent once it has begun. */
import { openStateStore } from '../../../src/store/lmdb/state-store.ts'

const store = openStateStore({ dir: process.argv[2] ?? '', format: 'test-1' })
const first = (store.position?.sequence ?? 0) + 1
for (let seq = first; ; seq++) {
  const value = Buffer.from(String(seq))
  store.commit(new Map([...Array(100).keys()].map((key) => [`key${key}`, value])), {
    epoch: 'epoch-1',
    sequence: seq,
    link: 0,
  })
  if (seq === first + 20) process.send?.(seq)
  // The message leaves only when the loop pauses.
  if (seq % 20 === 0) await new Promise((resolve) => setImmediate(resolve))
}
