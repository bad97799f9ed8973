import type { IncomingHttpHeaders } from 'node:http'

export type MayConnect = (headers: IncomingHttpHeaders, hasKey: boolean) => boolean

/**
 * Whether a socket may be opened, by the site whose page opens it. Only browsers are made to say that, and they send no
 * key by themselves: a page without one gets nothing here, whatever its site. A page that comes with `X-API-KEY`
 * had it put there by something in between (a proxy that knows its users by cookie), which would do so for every
 * page on the web: then the site must be ours, or be named. Sites that are named are the only ones at all.
 */
export function originRule(allowed: readonly string[]): MayConnect {
  const named = new Set(allowed.map((origin) => origin.toLowerCase()))
  return ({ origin, host }, hasKey) => {
    if (origin === undefined) return true
    const site = origin.toLowerCase()
    if (named.has(site) || isOfHost(site, host)) return true
    return !hasKey && named.size === 0
  }
}

function isOfHost(site: string, host: string | undefined): boolean {
  return host !== undefined && URL.canParse(site) && new URL(site).host === host.toLowerCase()
}
