/** An account, of which only the first part of the data is read. */
export type Account = {
  /** The program that alone can change the data. */
  readonly owner: string
  readonly data: Uint8Array
  /** Bytes of all data. */
  readonly size: number
}
