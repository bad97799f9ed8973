/**
 * A position in a log. The epoch is written when the log is created, and the link is the checksum of the frame at
 * `seq`, so a recreated or truncated log never matches an old position.
 */
export type LogPosition = { readonly epoch: string; readonly seq: number; readonly link: number }
