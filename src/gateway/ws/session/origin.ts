import type { IncomingHttpHeaders } from 'node:http'
import { ANY_ORIGIN } from '../../http/cors.ts'

export type MayConnect = (headers: IncomingHttpHeaders, hasKey: boolean) => boolean

/**
 * Whether a page may open a socket. Only browsers send `Origin`, and a page cannot set `X-API-KEY` on a socket: a socket with
 * both got its key from a proxy that recognizes users by cookie, which would add it for every page the user has open
 * (docs/decisions/0032). Such a socket is accepted from the gateway's own host and from listed origins only.
 */
export function originRule(allowed: readonly string[]): MayConnect {
  const isAny = allowed.includes(ANY_ORIGIN)
  const listed = new Set(
    allowed.filter((origin) => origin !== ANY_ORIGIN).map((origin) => origin.toLowerCase()),
  )
  return ({ origin, host }, hasKey) => {
    if (origin === undefined) return true
    const site = origin.toLowerCase()
    if (listed.has(site) || isOfHost(site, host)) return true
    return isAny && !hasKey
  }
}

function isOfHost(site: string, host: string | undefined): boolean {
  return host !== undefined && URL.canParse(site) && new URL(site).host === host.toLowerCase()
}
