/**
 * The latest frames of a log, retained by the role that writes it. A log server that syncs lazily can lose acknowledged
 * messages; its writer then appends the identical frames again, so that no consumer notices.
 */
export type Outbox = {
  /** Retains the frame at `seq`. A frame that does not extend the retained ones replaces them. */
  add(epoch: string, seq: number, frame: Uint8Array): void
  /** The frame at `seq`, unless it was evicted or belongs to another log. */
  get(epoch: string, seq: number): Uint8Array | undefined
  /** The place of the oldest retained frame; undefined if there is none. */
  oldest(): { readonly epoch: string; readonly sequence: number } | undefined
  /** Resolves once all frames added so far are durable. */
  flushed(): Promise<void>
}
