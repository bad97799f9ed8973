/** An event by which a launch platform says that it created a token, or that the token has left its bonding curve. */
export type FoundLaunch = {
  readonly token: string
  readonly factory: string
  readonly is: 'created' | 'graduated'
  readonly block: number
  /** Index of the log in its block. */
  readonly log: number
}

/** A token's launch by the events of its platform. At least one of the two blocks is known. */
export type PastLaunch = {
  readonly factory: string
  readonly createdIn: number | undefined
  readonly graduatedIn: number | undefined
}
