import assert from 'node:assert/strict'
import { JournaledState, type Table } from '../../../src/state/journaled-state.ts'
import type { Restored } from '../../../src/state/undone-values.ts'
import { ByteWriter } from '../../../src/wire/byte-writer.ts'
import { text } from '../../../src/wire/codec.ts'
import { entriesAfter, MemoryState } from './memory-state.ts'

export const TABLES = ['pair', 'token'] as const

/** Undefined deletes the record. */
export type Write = { table: (typeof TABLES)[number]; id: string; value: string | undefined }

/** A journaled state with two tables of texts, over a store in memory. */
export class JournaledTables {
  readonly store = new MemoryState()
  readonly state = new JournaledState(this.store)
  readonly tables: Record<(typeof TABLES)[number], Table<string>> = {
    pair: this.state.table('pair', text),
    token: this.state.table('token', text),
  }

  commit(): void {
    this.store.write(this.state.pending())
    this.state.committed()
  }

  apply(number: number, list: readonly Write[]): void {
    for (const { table, id, value } of list) {
      if (value === undefined) this.tables[table].delete(id)
      else this.tables[table].put(id, value)
      assert.equal(this.tables[table].get(id), value, 'a block reads its own writes')
    }
    this.state.sealBlock(number)
  }

  applyAll(first: number, blocks: readonly { writes: readonly Write[] }[]): void {
    for (const [at, { writes: list }] of blocks.entries()) this.apply(first + at, list)
  }

  /** The complete state after a commit now, byte for byte. */
  dump(): Map<string, string> {
    const entries = entriesAfter(this.store.entries(), this.state.pending())
    return new Map(entries.map(([key, value]) => [key, hex(value)]))
  }
}

export function hex(value: Uint8Array): string {
  return Buffer.from(value).toString('hex')
}

export function encoded(value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  const w = new ByteWriter()
  w.text(value)
  return hex(w.finish())
}

export function journalName(number: number): string {
  return `journal/${String(number).padStart(16, '0')}`
}

export function readable({ table, id, undone, restored }: Restored) {
  return {
    key: `${table}/${id}`,
    undone: undone.map(hex),
    restored: restored === undefined ? undefined : hex(restored),
  }
}

/** The expected report of undoing all blocks from `first` on. */
