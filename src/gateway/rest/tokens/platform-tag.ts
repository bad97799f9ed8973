import { isAlmostThere } from '../../../domain/launch.ts'
import { dayVolume } from '../../../domain/window.ts'
import type { GroupRank, TokenGroup } from '../../../store/document-reads.ts'
import type { TokenView } from '../../shape/token-row.ts'

/** The tokens that a tag selects, and their order. */
export type PlatformTag = {
  /** Undefined: every platform. */
  readonly platform: string | undefined
  readonly rank: GroupRank
  /** Whether a token has the tag now; stored ranks may lag. */
  readonly isOf: (view: TokenView) => boolean
  /** The sort key, highest first. */
  readonly orderOf: (view: TokenView) => bigint
}

export const ORDERS = ['tx_volume_u_24h', 'main_pair_tvl'] as const
export type Order = (typeof ORDERS)[number]

const ALL = 'meme'
const OF_PLATFORM = /^(.+)_(in|out)_(hot|new|almost)$/

/** Reads `meme` or `<platform>_(in_hot|in_new|in_almost|out_hot|out_new)`; undefined if it is neither. */
export function parsePlatformTag(tag: string, order: Order): PlatformTag | undefined {
  const by = order === 'main_pair_tvl' ? 'main_pair_tvl' : 'volume_24h'
  if (tag === ALL) {
    const isOf = ({ token }: TokenView): boolean => token.platform !== undefined
    return { platform: undefined, rank: `${ALL}/${by}`, isOf, orderOf: ORDER_OF[by] }
  }
  const [, platform, side, kind] = OF_PLATFORM.exec(tag) ?? []
  if (platform === undefined || (side === 'out' && kind === 'almost')) return undefined
  const group: TokenGroup = side === 'in' ? `${platform}_in` : `${platform}_out`
  const isOf = ({ token }: TokenView): boolean => {
    if (token.platform?.name !== platform) return false
    return (token.platform.graduatedAt === undefined) === (side === 'in')
  }
  switch (kind) {
    case 'new':
      return { platform, rank: `${group}/new`, isOf, orderOf: ORDER_OF.new }
    case 'almost': {
      const isNear = (view: TokenView): boolean =>
        isOf(view) && isAlmostThere(view.token.platform?.progressPpm)
      return { platform, rank: `${group}/almost`, isOf: isNear, orderOf: ORDER_OF.almost }
    }
    default:
      return { platform, rank: `${group}/${by}`, isOf, orderOf: ORDER_OF[by] }
  }
}

const ORDER_OF = {
  volume_24h: ({ windows }: TokenView) => dayVolume(windows.windows) ?? 0n,
  main_pair_tvl: ({ token }: TokenView) => token.mainPairTvlUsd ?? 0n,
  new: ({ token: { platform } }: TokenView) => BigInt(platform?.graduatedAt ?? platform?.createdAt ?? 0),
  almost: ({ token }: TokenView) => BigInt(token.platform?.progressPpm ?? 0),
}
