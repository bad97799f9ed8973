import type { IncomingMessage } from 'node:http'

/** Only the operations of the datafeed: a token opens nothing else. */
const PATH = /^\/udf\/(ctc_[0-9A-Za-z]{36})(\/(?:config|symbols|history|search|time)(?:\?.*)?)$/

const tokens = new WeakMap<IncomingMessage, string>()

/** TradingView's adapter sends no headers, so its token is in the path; routes, logs and metrics see the path without it. */
export function takeChartToken(request: IncomingMessage): string {
  const url = request.url ?? ''
  const [, token, rest] = PATH.exec(url) ?? []
  if (token === undefined) return url
  tokens.set(request, token)
  return `/udf${rest}`
}

export function chartTokenOf(request: IncomingMessage): string | undefined {
  return tokens.get(request)
}
