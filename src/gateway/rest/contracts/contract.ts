import Type from 'typebox'
import type { Token } from '../../../domain/change.ts'
import type { ContractReport } from '../../../domain/contract-report.ts'
import type { ChainAddress } from '../../../domain/ids.ts'
import { isBurnAddress } from '../../../domain/known-addresses.ts'
import { formatValue } from '../../../domain/money.ts'
import type { Scope } from '../../http/scope.ts'
import { contractFields, type HolderMark, holdersRank, type RankedHolder } from '../../shape/contract.ts'
import { knownAmount, leaveOutUnknown } from '../../shape/wire-values.ts'
import type { RestContext } from '../context.ts'
import { parsePathId, unknownPathId } from '../path-id.ts'
import { answerOf, integer, maybeInteger, maybeText, noQuery, text, unknownFields } from '../schemas.ts'
import { whenKnown } from '../when-known.ts'

const TOP_PAIRS = 10
const TOP_HOLDERS = 10
/** Decimals of LP tokens. */
const SHARE_DECIMALS = 18

const rank = Type.Array(
  answerOf(
    {
      address: text,
      quantity: maybeText,
      percent: maybeText,
      is_contract: maybeInteger,
      is_lp: integer,
      mark: text,
    },
    'RankedHolder',
  ),
  { maxItems: TOP_HOLDERS },
)

/** Optional fields of a contract. */
const NOT_IN_ALL: ReadonlySet<string> = new Set(['owner', 'owner_percent', 'metadata_mutable'])

const schema = {
  operationId: 'contract',
  summary: 'Contract and risk of a token',
  description: `What the code can do, the taxes and gas of a simulated purchase, transfer and sale, the largest holders, and the risk score
with the evidence for each factor (docs/risk.md). A request for a contract without a recent inspection schedules one; until then
is_honeypot is -1.`,
  tags: ['Tokens'],
  params: Type.Object({ tokenId: text }),
  querystring: noQuery,
  response: {
    200: answerOf(
      {
        token: text,
        chain: text,
        token_name: text,
        token_symbol: text,
        decimal: maybeInteger,
        total: maybeText,
        holders: maybeInteger,
        owner: maybeText,
        owner_percent: maybeText,
        creator_address: maybeText,
        creator_percent: maybeText,
        is_proxy: maybeInteger,
        has_mint_method: maybeInteger,
        has_black_method: maybeInteger,
        transfer_pausable: maybeInteger,
        slippage_modifiable: maybeInteger,
        can_take_back_ownership: maybeInteger,
        hidden_owner: maybeInteger,
        selfdestruct: maybeInteger,
        external_call: maybeInteger,
        metadata_mutable: maybeInteger,
        is_honeypot: integer,
        buy_tax: maybeText,
        sell_tax: maybeText,
        transfer_tax: maybeText,
        buy_gas: maybeInteger,
        sell_gas: maybeInteger,
        transfer_gas: maybeInteger,
        token_lock_percent: maybeText,
        pair_lock_percent: maybeText,
        pair_holders: maybeInteger,
        dex: Type.Array(
          answerOf({ amm: text, pair: text, name: text, liquidity: maybeText }, 'ContractPair'),
        ),
        token_holders_rank: rank,
        pair_holders_rank: rank,
        risk_level: maybeInteger,
        risk_score: maybeInteger,
        risk_version: maybeInteger,
        risk_factors: Type.Optional(
          Type.Array(answerOf({ code: text, points: integer, evidence: Type.Array(text) }, 'RiskFactor')),
        ),
        checked_at_block: maybeInteger,
        checked_at: maybeInteger,
        unknown: unknownFields,
      },
      'Contract',
    ),
  },
}

const FIELDS = Object.keys(schema.response[200].properties).filter((name) => name !== 'unknown')

/** `GET /v2/contracts/{token-id}` */
export function addContract(scope: Scope, context: RestContext): void {
  const { view, reports, wantedHolders, familyOf, listingOf, mainTokensOf, lookUps } = context
  scope.get('/v2/contracts/:tokenId', { schema, config: { cu: 10 } }, async (request, reply) => {
    const ref = parsePathId(request.params.tokenId, 'token', familyOf)
    const { chain, address } = ref
    reply.answerChains = [chain]
    const { token, pairs } = await whenKnown(lookUps, request, reply, ref, async () => {
      const [[reading], pairs] = await Promise.all([view.tokens([ref]), view.topPairs(ref, TOP_PAIRS)])
      if (reading?.record === undefined) throw unknownPathId('token')
      return { token: reading.record, pairs }
    })
    wantedHolders.ask([ref], request.grant?.keyId ?? '')
    const report = await reports.read(ref, view.head(chain)?.time)
    const isListed = mainTokensOf(chain).includes(address) || listingOf(chain, address) !== undefined
    const pools = new Set(pairs.map(({ pair }) => pair.address))
    const rankOf = (of: string, held: HeldToken) =>
      ranked(context, { chain, address: of }, held, pools, report)
    const shares = report?.holdings.pool
    const [tokenHolders, pairHolders] = await Promise.all([
      rankOf(address, { ...token, holders: token.holding?.holders }),
      shares === undefined
        ? []
        : rankOf(shares.pair, { ...shares, decimals: SHARE_DECIMALS, supplyRaw: shares.issuedRaw }),
    ])
    const answer = {
      ...leaveOutUnknown({
        token: address,
        chain,
        token_name: token.name,
        token_symbol: token.symbol,
        decimal: token.decimals,
        total: knownAmount(token.supplyRaw, token.decimals),
        holders: token.holding?.holders,
      }),
      ...contractFields(report, isListed),
      dex: pairs.map(({ pair: { amm, address: pair, token0, token1, tvlUsd } }) => ({
        amm,
        pair,
        name: `${token0.symbol}/${token1.symbol}`,
        ...(tvlUsd === undefined ? {} : { liquidity: formatValue(tvlUsd) }),
      })),
      token_holders_rank: tokenHolders,
      pair_holders_rank: pairHolders,
    }
    return { ...answer, unknown: unknownIn(answer, report !== undefined) }
  })
}

/** A contract that was inspected and has no owner field has no owner. */
function unknownIn(answer: object, isInspected: boolean): string[] {
  const absent = FIELDS.filter((name) => !(name in answer))
  return isInspected ? absent.filter((name) => !NOT_IN_ALL.has(name)) : absent
}

type HeldToken = Pick<Token, 'decimals' | 'supplyRaw'> & { readonly holders: number | undefined }

async function ranked(
  { holders }: RestContext,
  of: ChainAddress,
  token: HeldToken,
  pools: ReadonlySet<string>,
  report: ContractReport | undefined,
) {
  const top = (await holders.top(of, token.holders)).slice(0, TOP_HOLDERS)
  const accounts = await holders.accounts(
    of.chain,
    top.map(({ holder }) => holder),
  )
  const known = top.map(({ holder, amountRaw }, index): RankedHolder => {
    const isPool = pools.has(holder)
    const isContract = isPool ? true : accounts?.[index]?.isContract
    return { holder, amountRaw, isContract, isPool, mark: markOf(holder, isPool, report) }
  })
  return holdersRank(known, token)
}

function markOf(holder: string, isPool: boolean, report: ContractReport | undefined): HolderMark {
  if (isPool) return 'pool'
  if (isBurnAddress(holder)) return 'burned'
  if (holder === report?.creator) return 'creator'
  return holder === report?.inspection.owner ? 'owner' : ''
}
