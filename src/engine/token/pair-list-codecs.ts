import type { Codec } from '../../wire/codec.ts'
import type { PairDepth } from '../pair/depth.ts'
import type { QuotedPairs } from './main-pair.ts'

/** Reader and writer are by hand, because every trade changes one. */
export const depthsCodec: Codec<readonly PairDepth[]> = {
  write: (w, depths) =>
    w.list(depths, ({ pair, tvlUsd, depthUsd }) => {
      w.recurringId(pair)
      w.biguint(tvlUsd)
      w.biguint(depthUsd)
    }),
  read: (r) => r.list(() => ({ pair: r.id(), tvlUsd: r.biguint(), depthUsd: r.biguint() })),
}

export const quotedPairsCodec: Codec<QuotedPairs> = {
  write: (w, { tvlUsd, deepest }) => {
    w.biguint(tvlUsd)
    depthsCodec.write(w, deepest)
  },
  read: (r) => ({ tvlUsd: r.biguint(), deepest: depthsCodec.read(r) }),
}
