import { formatPrice, formatValue } from '../../domain/money.ts'
import type { ExplainedPair, Explanation } from '../../engine/price/explain.ts'
import type { Worth } from '../../engine/price/reference-prices.ts'

/** An explanation as JSON: plain decimals, and what is not known left out. */
export function shownExplanation(explanation: Explanation): object {
  const { token, price, updatedAt, mainPair, route, anchors, shallowerPairs } = explanation
  return {
    token,
    ...shownWorth(price),
    updated_at: updatedAt,
    main_pair: mainPair && shownPair(mainPair),
    route: route.map((step) => ({ token: step.token, kind: step.kind, ...shownWorth(step.worth) })),
    native_coin_priced_by: anchors.map(({ pair, stable, depthUsd, nativeUsd }) => ({
      pair,
      stable,
      depth_usd: formatValue(depthUsd),
      native_usd: formatPrice(nativeUsd),
    })),
    not_main_because_shallower: shallowerPairs.map(shownPair),
  }
}

function shownWorth({ usd, native }: Worth): object {
  return { price_usd: usd && formatPrice(usd), price_native: native && formatPrice(native) }
}

function shownPair({ pair, amm, quote, depthUsd, asked, counted, updatedAt }: ExplainedPair): object {
  return {
    pair,
    amm,
    quote,
    depth_usd: depthUsd && formatValue(depthUsd),
    asked_usd: asked && formatPrice(asked),
    counted_usd: counted && formatPrice(counted),
    updated_at: updatedAt,
  }
}
