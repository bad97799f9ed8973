/**
 * A place in a log. The epoch is written when the log is created, so a log made anew is never mistaken for
 * the old one; the link is the checksum of the frame at `seq`, so neither is one whose tail was lost.
 */
export type LogPosition = { readonly epoch: string; readonly seq: number; readonly link: number }
