import type { TokenLaunch, TokenOrigin } from '../../domain/change.ts'

/** Unknown for a token that is older than the log, because it may have traded before. */
export function launchOf(
  origin: TokenOrigin | undefined,
  firstTrade: TokenLaunch | undefined,
  logStartTime: number | undefined,
): TokenLaunch | undefined {
  if (origin === undefined || logStartTime === undefined || origin.time < logStartTime) return undefined
  return firstTrade
}
