/** Generations of a chain take turns with CHANGES and CHANGES2. */
export type LogName = 'BLOCKS' | 'CHANGES' | 'CHANGES2'
