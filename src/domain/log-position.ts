/**
 * A position in a log. The epoch is written when the log is created, and the link is the checksum of the frame at
 * `sequence`, so a recreated or truncated log never matches an old position.
 */
export type LogPosition = { readonly epoch: string; readonly sequence: number; readonly link: number }
