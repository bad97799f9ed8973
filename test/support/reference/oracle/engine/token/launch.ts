import type { TokenLaunch, TokenOrigin } from '../../../../../../src/domain/change.ts'

/** A token that is older than the log may have been traded before it: then its first trade is not known. */
export function launchOf(
  origin: TokenOrigin | undefined,
  firstTrade: TokenLaunch | undefined,
  logStartTime: number | undefined,
): TokenLaunch | undefined {
  if (origin === undefined || logStartTime === undefined || origin.time < logStartTime) return undefined
  return firstTrade
}
