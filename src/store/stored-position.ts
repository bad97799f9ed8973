import type { LogPosition } from '../domain/log-position.ts'

/** A log position as the stores have always held it: its sequence is named `seq`. */
export type StoredPosition = { readonly epoch: string; readonly seq: number; readonly link: number }

export function toStoredPosition({ epoch, sequence, link }: LogPosition): StoredPosition {
  return { epoch, seq: sequence, link }
}

export function fromStoredPosition({ epoch, seq, link }: StoredPosition): LogPosition {
  return { epoch, sequence: seq, link }
}
