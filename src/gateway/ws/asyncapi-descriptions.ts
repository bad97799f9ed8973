import type { CloseCode } from './close-codes.ts'
import { DEFAULT_WS_LIMITS } from './limits.ts'
import { REPLAY_CU, REPLAY_EVENTS } from './replay/replays.ts'
import { RPC_CODES } from './rpc-fault.ts'

const { maxReplays, maxSubscriptions, refusalsAtOnce } = DEFAULT_WS_LIMITS

/** One entry for each code of ours, and 1008, which the WebSocket library sends: the compiler compares. */
const CLOSE_CODES: Readonly<Record<CloseCode | 1008, string>> = {
  1001: 'the server shuts down, or received nothing for 60 s',
  1008: 'a message had too many fragments',
  1009: 'a message was too large',
  1011: 'a replay failed; reconnect with your last cursor',
  4401: 'not authenticated in time, or an invalid API key',
  4403: 'the API key expired or was revoked',
  4408: 'the client read too slowly; reconnect with your last cursor',
  4429: `the key already has all its connections, or messages kept coming after ${refusalsAtOnce} were refused (a long message counts once per started 512 bytes)`,
}

/** One entry for each code: the compiler compares. */
const ERROR_CODES: Readonly<Record<keyof typeof RPC_CODES, string>> = {
  parse_error: 'not JSON',
  invalid_request: 'not a request',
  method_not_found: 'no such method',
  invalid_params: 'invalid `params`; `data` points to the error',
  internal: 'internal error; retry',
  unauthorized: 'missing or invalid API key',
  limit_exceeded:
    'a limit of the plan is exceeded: `data.limit` is `connections`, `subscriptions` or `replays` (too many replays of the key are waiting; retry later)',
  unknown_subject: 'unknown pair, token or chain',
  rate_limited: 'too many messages',
  cursor_too_old:
    'the cursor is older than the retention: in an acknowledgement with `recovered: false`, or, with the id of a subscription that has ended, if the cursor expired while its replay waited',
  quota_exhausted:
    'no credit units left for a replay: in the response to `subscribe`, or later with the id of the subscription, which then ends',
}

export const CHANNEL_DESCRIPTION = `One JSON-RPC 2.0 message, or a batch, in each text frame. Close codes:\n\n${listOf(CLOSE_CODES)}`

export const ERROR_DESCRIPTION = `Codes:\n\n${listOf(
  Object.fromEntries(Object.entries(ERROR_CODES).map(([name, text]) => [codeOf(name), text])),
)}`

export const SUBSCRIBE_DESCRIPTION = [
  'With `from`, the gateway replays everything after that cursor before live pushes.',
  'With `checkpoint`, it pushes a new cursor when nothing was pushed for 30 to 60 s.',
  `A replay costs ${REPLAY_CU} CU per started ${REPLAY_EVENTS} events read; a cursor at the head costs nothing.`,
  `A key runs ${maxReplays} replays at a time per gateway, unless its plan differs; further ones are acknowledged at once and wait.`,
  `Beyond ${maxSubscriptions} waiting replays (the plan's subscriptions of a connection) \`subscribe\` gets ${RPC_CODES.limit_exceeded}.`,
].join(' ')

function codeOf(name: string): number {
  return RPC_CODES[name as keyof typeof RPC_CODES]
}

function listOf(meanings: Readonly<Record<string, string>>): string {
  return Object.entries(meanings)
    .map(([code, meaning]) => `- ${code}: ${meaning}`)
    .join('\n')
}
