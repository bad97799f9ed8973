import { ChaintapeError } from '../domain/errors.ts'

/** The log server returned without messages it had acknowledged; the writer of the log may be able to restore them. */
export class TailLost extends ChaintapeError {
  constructor(stream: string, seq: number) {
    super('log_truncated', `${stream} has lost message ${seq}, which it had acknowledged`)
  }
}
