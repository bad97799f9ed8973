import { type ChainFamily, normaliseAddress } from '../../domain/ids.ts'
import { formatPrice, formatValue, type Value } from '../../domain/money.ts'
import type { ExplainedPair, Explanation, RouteStep } from '../../engine/price/explain.ts'
import type { Worth } from '../../engine/price/worth.ts'

/** `/explain/<chain>/<token>`: how the token's price was derived, as of the last folded block. */
export function explainedToken(
  path: string,
  chains: { readonly [name: string]: { readonly family: ChainFamily } },
): { readonly chain: string; readonly token: string } | undefined {
  const [, chain = '', given = ''] = /^\/explain\/([^/]+)\/([^/]+)$/.exec(path) ?? []
  const family = Object.hasOwn(chains, chain) ? chains[chain]?.family : undefined
  const token = family === undefined ? undefined : normaliseAddress(family, 'token', given)
  return token === undefined ? undefined : { chain, token }
}

/** An explanation as JSON: plain decimals, and what is not known left out. */
export function shownExplanation(explanation: Explanation): object {
  const { token, price, updatedAt, mainPair, route, anchors, shallowerPairs } = explanation
  return {
    token,
    ...shownWorth(price),
    updated_at: updatedAt,
    main_pair: mainPair && shownPair(mainPair),
    route: route.map(shownStep),
    native_coin_priced_by: anchors.map(({ pair, stable, depthUsd, nativeUsd }) => ({
      pair,
      stable,
      depth_usd: formatValue(depthUsd),
      native_usd: formatPrice(nativeUsd),
    })),
    not_main_because_shallower: shallowerPairs.map(shownPair),
  }
}

function shownStep({ token, kind, worth, pair, depthUsd }: RouteStep): object {
  return { token, kind, ...shownWorth(worth), pair, depth_usd: shownValue(depthUsd) }
}

function shownWorth({ usd, native }: Worth): object {
  return { price_usd: usd && formatPrice(usd), price_native: native && formatPrice(native) }
}

/** A pair may be known to hold nothing. */
function shownValue(value: Value | undefined): string | undefined {
  return value === undefined ? undefined : formatValue(value)
}

function shownPair({ pair, amm, quote, depthUsd, asked, counted, updatedAt }: ExplainedPair): object {
  return {
    pair,
    amm,
    quote,
    depth_usd: shownValue(depthUsd),
    asked_usd: asked && formatPrice(asked),
    counted_usd: counted && formatPrice(counted),
    updated_at: updatedAt,
  }
}
