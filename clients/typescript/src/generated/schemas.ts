// Generated from the description of the gateway: `npm run client:types`. Do not edit.

export type Candle = {
  readonly time: number
  readonly open: string
  readonly high: string
  readonly low: string
  readonly close: string
  readonly volume: string
  readonly count: number
  readonly revision?: number
}

export type Chain = {
  readonly chain: string
  readonly family: 'evm' | 'solana'
  readonly amms: readonly string[]
  readonly platforms: readonly string[]
  readonly main_tokens: readonly string[]
}

export type ChainFault = {
  readonly role: string
  readonly code: string
  readonly since: number
}

export type ChainStatus = {
  readonly chain: string
  readonly block?: number
  readonly block_time?: number
  readonly final_block?: number
  readonly lag_ms?: number
  readonly last_minute?: Throughput
  readonly reorgs?: Reorgs
  readonly is_complete: boolean
  readonly is_available: boolean
  readonly faults: readonly ChainFault[]
  readonly generation: number
  readonly refold?: Refold
  readonly freshness?: Freshness
  readonly quarantined: readonly QuarantinedMessage[]
  readonly reconciliation?: Reconciliation
}

export type Contract = {
  readonly token: string
  readonly chain: string
  readonly token_name: string
  readonly token_symbol: string
  readonly decimal?: number
  readonly total?: string
  readonly holders?: number
  readonly owner?: string
  readonly owner_percent?: string
  readonly creator_address?: string
  readonly creator_percent?: string
  readonly is_proxy?: number
  readonly has_mint_method?: number
  readonly has_black_method?: number
  readonly transfer_pausable?: number
  readonly slippage_modifiable?: number
  readonly can_take_back_ownership?: number
  readonly hidden_owner?: number
  readonly selfdestruct?: number
  readonly external_call?: number
  readonly metadata_mutable?: number
  readonly is_honeypot: number
  readonly buy_tax?: string
  readonly sell_tax?: string
  readonly transfer_tax?: string
  readonly buy_gas?: number
  readonly sell_gas?: number
  readonly transfer_gas?: number
  readonly token_lock_percent?: string
  readonly pair_lock_percent?: string
  readonly pair_holders?: number
  readonly dex: readonly ContractPair[]
  readonly token_holders_rank: readonly RankedHolder[]
  readonly pair_holders_rank: readonly RankedHolder[]
  readonly risk_level?: number
  readonly risk_score?: number
  readonly risk_version?: number
  readonly risk_factors?: readonly RiskFactor[]
  readonly checked_at_block?: number
  readonly checked_at?: number
  /** Names of the unknown fields: the omitted ones, and those that are `""` or 0 because the interface requires them. Empty if all fields are known. */
  readonly unknown: readonly string[]
}

export type ContractPair = {
  readonly amm: string
  readonly pair: string
  readonly name: string
  readonly liquidity?: string
}

export type Freshness = {
  readonly window_seconds: number
  readonly block_to_push_ms: Quantiles
  readonly announcement_to_push_ms: Quantiles
}

export type Holder = {
  readonly holder: string
  readonly balance_ratio: number
  readonly balance_usd: number
  readonly main_coin_balance: number
  readonly address: string
  readonly amount_cur: number
}

export type LiquidityPage = {
  readonly txs: readonly LiquidityTransaction[]
  readonly next_cursor?: string
  readonly cursor?: string
}

export type LiquidityTransaction = {
  readonly id: string
  readonly time: number
  readonly block_number: number
  readonly chain: string
  readonly transaction: string
  readonly amm: string
  readonly sender: string
  readonly wallet_address: string
  readonly pair_address: string
  readonly type: 'addLiquidity' | 'removeLiquidity' | 'createPair' | 'collectFee'
  readonly amount_usd: string
  readonly amount_eth: string
  readonly pair_liquidity_usd: string
  readonly pair_liquidity_eth: string
  readonly token0_address: string
  readonly token0_symbol: string
  readonly token0_price_usd: string
  readonly token0_price_eth: string
  readonly amount0: string
  readonly reserve0: string
  readonly token1_address: string
  readonly token1_symbol: string
  readonly token1_price_usd: string
  readonly token1_price_eth: string
  readonly amount1: string
  readonly reserve1: string
}

export type MainPairChange = {
  readonly time: number
  readonly block_number: number
  readonly old_main_pair: string
  readonly new_main_pair: string
  readonly reason: 'deeper' | 'emptied' | 'graduated'
}

export type MainTokenRow = {
  readonly token: string
  readonly chain: string
  readonly name: string
  readonly symbol: string
  readonly decimal?: number
  readonly total?: string
  readonly current_price_usd: string
  readonly current_price_eth?: string
  readonly price_change_1d?: string
  readonly price_change_24h?: string
  readonly market_cap: string
  readonly fdv?: string
  readonly tvl?: string
  readonly main_pair?: string
  readonly main_pair_tvl?: string
  readonly tx_volume_u_24h?: string
  readonly tx_amount_24h?: string
  readonly tx_count_24h?: number
  readonly holders: number
  readonly launch_at?: number
  readonly created_at?: number
  readonly updated_at: number
  readonly launch_price?: string
  readonly burn_amount?: string
  readonly lock_amount?: string
  readonly logo_url: string
  readonly issue_platform?: string
  readonly platform_progress?: string
  readonly risk_score?: number
  readonly is_honeypot: number
  readonly is_mintable?: number
  /** Names of the unknown fields: the omitted ones, and those that are `""` or 0 because the interface requires them. Empty if all fields are known. */
  readonly unknown: readonly string[]
  readonly token_price_change_5m?: string
  readonly token_tx_volume_usd_5m?: string
  readonly token_buy_tx_volume_usd_5m?: string
  readonly token_sell_tx_volume_usd_5m?: string
  readonly token_tx_count_5m?: number
  readonly token_buy_tx_count_5m?: number
  readonly token_sell_tx_count_5m?: number
  readonly token_makers_5m?: number
  readonly token_buyers_5m?: number
  readonly token_sellers_5m?: number
  readonly token_price_change_1h?: string
  readonly token_tx_volume_usd_1h?: string
  readonly token_buy_tx_volume_usd_1h?: string
  readonly token_sell_tx_volume_usd_1h?: string
  readonly token_tx_count_1h?: number
  readonly token_buy_tx_count_1h?: number
  readonly token_sell_tx_count_1h?: number
  readonly token_makers_1h?: number
  readonly token_buyers_1h?: number
  readonly token_sellers_1h?: number
  readonly token_price_change_4h?: string
  readonly token_tx_volume_usd_4h?: string
  readonly token_buy_tx_volume_usd_4h?: string
  readonly token_sell_tx_volume_usd_4h?: string
  readonly token_tx_count_4h?: number
  readonly token_buy_tx_count_4h?: number
  readonly token_sell_tx_count_4h?: number
  readonly token_makers_4h?: number
  readonly token_buyers_4h?: number
  readonly token_sellers_4h?: number
  readonly token_price_change_24h?: string
  readonly token_tx_volume_usd_24h?: string
  readonly token_buy_tx_volume_usd_24h?: string
  readonly token_sell_tx_volume_usd_24h?: string
  readonly token_tx_count_24h?: number
  readonly token_buy_tx_count_24h?: number
  readonly token_sell_tx_count_24h?: number
  readonly token_makers_24h?: number
  readonly token_buyers_24h?: number
  readonly token_sellers_24h?: number
}

export type Pair = {
  readonly pair: string
  readonly chain: string
  readonly amm: string
  readonly target_token?: string
  readonly token0_address: string
  readonly token0_symbol: string
  readonly token0_decimal?: number
  readonly token0_price_usd?: string
  readonly token0_price_eth?: string
  readonly token1_address: string
  readonly token1_symbol: string
  readonly token1_decimal?: number
  readonly token1_price_usd?: string
  readonly token1_price_eth?: string
  readonly reserve0?: string
  readonly reserve1?: string
  readonly init_reserve0?: string
  readonly init_reserve1?: string
  readonly tvl?: string
  readonly fdv?: string
  readonly created_at?: number
  readonly updated_at: number
  readonly first_trade_at?: number
  readonly last_trade_at?: number
  readonly high_u?: string
  readonly low_u?: string
  readonly market_cap?: string
  readonly price_ath_u?: string
  readonly is_main_pair: boolean
  readonly price_change_1m?: string
  readonly volume_u_1m?: string
  readonly buy_volume_u_1m?: string
  readonly sell_volume_u_1m?: string
  readonly tx_1m_count?: number
  readonly buys_tx_1m_count?: number
  readonly sells_tx_1m_count?: number
  readonly makers_1m?: number
  readonly buyers_1m?: number
  readonly sellers_1m?: number
  readonly price_change_5m?: string
  readonly volume_u_5m?: string
  readonly buy_volume_u_5m?: string
  readonly sell_volume_u_5m?: string
  readonly tx_5m_count?: number
  readonly buys_tx_5m_count?: number
  readonly sells_tx_5m_count?: number
  readonly makers_5m?: number
  readonly buyers_5m?: number
  readonly sellers_5m?: number
  readonly price_change_15m?: string
  readonly volume_u_15m?: string
  readonly buy_volume_u_15m?: string
  readonly sell_volume_u_15m?: string
  readonly tx_15m_count?: number
  readonly buys_tx_15m_count?: number
  readonly sells_tx_15m_count?: number
  readonly makers_15m?: number
  readonly buyers_15m?: number
  readonly sellers_15m?: number
  readonly price_change_1h?: string
  readonly volume_u_1h?: string
  readonly buy_volume_u_1h?: string
  readonly sell_volume_u_1h?: string
  readonly tx_1h_count?: number
  readonly buys_tx_1h_count?: number
  readonly sells_tx_1h_count?: number
  readonly makers_1h?: number
  readonly buyers_1h?: number
  readonly sellers_1h?: number
  readonly price_change_4h?: string
  readonly volume_u_4h?: string
  readonly buy_volume_u_4h?: string
  readonly sell_volume_u_4h?: string
  readonly tx_4h_count?: number
  readonly buys_tx_4h_count?: number
  readonly sells_tx_4h_count?: number
  readonly makers_4h?: number
  readonly buyers_4h?: number
  readonly sellers_4h?: number
  readonly price_change_24h?: string
  readonly volume_u_24h?: string
  readonly buy_volume_u_24h?: string
  readonly sell_volume_u_24h?: string
  readonly tx_24h_count?: number
  readonly buys_tx_24h_count?: number
  readonly sells_tx_24h_count?: number
  readonly makers_24h?: number
  readonly buyers_24h?: number
  readonly sellers_24h?: number
  /** Names of the unknown fields: the omitted ones, and those that are `""` or 0 because the interface requires them. Empty if all fields are known. */
  readonly unknown: readonly string[]
}

/** RFC 9457 problem details */
export type Problem = {
  readonly type: string
  readonly status: number
  readonly detail: string
  /** Request ID */
  readonly instance: string
  /** Stable machine code: see docs/errors.md */
  readonly code: string
  readonly errors?: readonly ProblemItem[]
}

export type ProblemItem = {
  readonly pointer: string
  readonly detail: string
}

export type Quantiles = {
  readonly p50: number
  readonly p99: number
}

export type QuarantinedMessage = {
  readonly log: string
  readonly sequence: number
}

export type RankedHolder = {
  readonly address: string
  readonly quantity?: string
  readonly percent?: string
  readonly is_contract?: number
  readonly is_lp: number
  readonly mark: string
}

export type Reconciliation = {
  readonly time: number
  readonly from_block?: number
  readonly to_block?: number
  readonly node_blocks: number
  readonly rows: number
  readonly documents: number
  readonly skipped_documents: number
  readonly differences: number
}

export type Refold = {
  readonly generation: number
  readonly state: 'building' | 'switching'
}

export type Reorgs = {
  readonly count: number
  readonly deepest: number
  readonly last_at?: number
}

export type RiskFactor = {
  readonly code: string
  readonly points: number
  readonly evidence: readonly string[]
}

export type Status = {
  readonly chains: readonly ChainStatus[]
  readonly time: number
}

export type Swap = {
  readonly amm: string
  readonly amount_eth: string
  readonly amount_usd: string
  readonly block_number: number
  readonly chain: string
  readonly from_address: string
  readonly from_amount: string
  readonly from_price_eth: string
  readonly from_price_usd: string
  readonly from_reserve: string
  readonly from_symbol: string
  readonly id: string
  readonly pair_address: string
  readonly pair_liquidity_eth: string
  readonly pair_liquidity_usd: string
  /** JSON object with the holdings of the wallet after the transaction. Present if one of them is known; unknown members are omitted. */
  readonly profile?: string
  readonly sender: string
  readonly target_token: string
  readonly time: number
  readonly to: string
  readonly to_address: string
  readonly to_amount: string
  readonly to_price_eth: string
  readonly to_price_usd: string
  readonly to_reserve: string
  readonly to_symbol: string
  readonly transaction: string
  readonly tx_seq: string
  readonly tx_swap_type: number
  readonly wallet_address: string
  readonly wallet_tag: null
}

export type SwapPage = {
  readonly txs: readonly Swap[]
  readonly next_cursor?: string
  readonly cursor?: string
}

export type Throughput = {
  readonly blocks: number
  readonly trades: number
}

export type TokenDetail = {
  readonly status: number
  readonly msg: string
  readonly data_type: number
  readonly data: TokenWithPairs
}

export type TokenMatch = {
  readonly token: string
  readonly chain: string
  readonly name: string
  readonly symbol: string
  readonly decimal?: number
  readonly total?: string
  readonly current_price_usd?: string
  readonly current_price_eth?: string
  readonly price_change_1d?: string
  readonly price_change_24h?: string
  readonly market_cap?: string
  readonly fdv?: string
  readonly tvl?: string
  readonly main_pair?: string
  readonly main_pair_tvl?: string
  readonly tx_volume_u_24h?: string
  readonly tx_amount_24h?: string
  readonly tx_count_24h?: number
  readonly holders?: number
  readonly launch_at?: number
  readonly created_at?: number
  readonly updated_at: number
  readonly launch_price?: string
  readonly burn_amount?: string
  readonly lock_amount?: string
  readonly logo_url?: string
  readonly issue_platform?: string
  readonly platform_progress?: string
  readonly risk_score?: number
  readonly is_honeypot: number
  readonly is_mintable?: number
  /** Names of the unknown fields: the omitted ones, and those that are `""` or 0 because the interface requires them. Empty if all fields are known. */
  readonly unknown: readonly string[]
  readonly token_price_change_5m?: string
  readonly token_tx_volume_usd_5m?: string
  readonly token_buy_tx_volume_usd_5m?: string
  readonly token_sell_tx_volume_usd_5m?: string
  readonly token_tx_count_5m?: number
  readonly token_buy_tx_count_5m?: number
  readonly token_sell_tx_count_5m?: number
  readonly token_makers_5m?: number
  readonly token_buyers_5m?: number
  readonly token_sellers_5m?: number
  readonly token_price_change_1h?: string
  readonly token_tx_volume_usd_1h?: string
  readonly token_buy_tx_volume_usd_1h?: string
  readonly token_sell_tx_volume_usd_1h?: string
  readonly token_tx_count_1h?: number
  readonly token_buy_tx_count_1h?: number
  readonly token_sell_tx_count_1h?: number
  readonly token_makers_1h?: number
  readonly token_buyers_1h?: number
  readonly token_sellers_1h?: number
  readonly token_price_change_4h?: string
  readonly token_tx_volume_usd_4h?: string
  readonly token_buy_tx_volume_usd_4h?: string
  readonly token_sell_tx_volume_usd_4h?: string
  readonly token_tx_count_4h?: number
  readonly token_buy_tx_count_4h?: number
  readonly token_sell_tx_count_4h?: number
  readonly token_makers_4h?: number
  readonly token_buyers_4h?: number
  readonly token_sellers_4h?: number
  readonly token_price_change_24h?: string
  readonly token_tx_volume_usd_24h?: string
  readonly token_buy_tx_volume_usd_24h?: string
  readonly token_sell_tx_volume_usd_24h?: string
  readonly token_tx_count_24h?: number
  readonly token_buy_tx_count_24h?: number
  readonly token_sell_tx_count_24h?: number
  readonly token_makers_24h?: number
  readonly token_buyers_24h?: number
  readonly token_sellers_24h?: number
  readonly is_impostor?: boolean
}

export type TokenPair = {
  readonly price_change_1m?: string
  readonly volume_u_1m?: string
  readonly buy_volume_u_1m?: string
  readonly sell_volume_u_1m?: string
  readonly tx_1m_count?: number
  readonly buys_tx_1m_count?: number
  readonly sells_tx_1m_count?: number
  readonly makers_1m?: number
  readonly buyers_1m?: number
  readonly sellers_1m?: number
  readonly price_change_5m?: string
  readonly volume_u_5m?: string
  readonly buy_volume_u_5m?: string
  readonly sell_volume_u_5m?: string
  readonly tx_5m_count?: number
  readonly buys_tx_5m_count?: number
  readonly sells_tx_5m_count?: number
  readonly makers_5m?: number
  readonly buyers_5m?: number
  readonly sellers_5m?: number
  readonly price_change_15m?: string
  readonly volume_u_15m?: string
  readonly buy_volume_u_15m?: string
  readonly sell_volume_u_15m?: string
  readonly tx_15m_count?: number
  readonly buys_tx_15m_count?: number
  readonly sells_tx_15m_count?: number
  readonly makers_15m?: number
  readonly buyers_15m?: number
  readonly sellers_15m?: number
  readonly price_change_1h?: string
  readonly volume_u_1h?: string
  readonly buy_volume_u_1h?: string
  readonly sell_volume_u_1h?: string
  readonly tx_1h_count?: number
  readonly buys_tx_1h_count?: number
  readonly sells_tx_1h_count?: number
  readonly makers_1h?: number
  readonly buyers_1h?: number
  readonly sellers_1h?: number
  readonly price_change_4h?: string
  readonly volume_u_4h?: string
  readonly buy_volume_u_4h?: string
  readonly sell_volume_u_4h?: string
  readonly tx_4h_count?: number
  readonly buys_tx_4h_count?: number
  readonly sells_tx_4h_count?: number
  readonly makers_4h?: number
  readonly buyers_4h?: number
  readonly sellers_4h?: number
  readonly price_change_24h: string
  readonly volume_u_24h?: string
  readonly buy_volume_u_24h?: string
  readonly sell_volume_u_24h?: string
  readonly tx_24h_count?: number
  readonly buys_tx_24h_count?: number
  readonly sells_tx_24h_count?: number
  readonly makers_24h?: number
  readonly buyers_24h?: number
  readonly sellers_24h?: number
  readonly amm: string
  readonly chain: string
  readonly pair: string
  readonly price_change: string
  readonly token0_symbol: string
  readonly token1_symbol: string
  readonly token0_price_usd: string
  readonly token1_price_usd: string
  readonly volume_u: string
  readonly updated_at: number
  readonly token0_address: string
  readonly token1_address: string
  readonly token0_decimal?: number
  readonly token1_decimal?: number
  readonly reserve0?: string
  readonly reserve1?: string
  readonly tvl?: string
  /** Names of the unknown fields: the omitted ones, and those that are `""` or 0 because the interface requires them. Empty if all fields are known. */
  readonly unknown: readonly string[]
}

export type TokenPrice = {
  readonly token_id: string
  readonly current_price_usd?: string
  readonly price_change_1d?: string
  readonly price_change_24h?: string
  readonly tvl?: string
  readonly tx_volume_u_24h?: string
  readonly fdv?: string
  readonly market_cap?: string
  readonly holders?: number
  readonly updated_at: number
  /** Names of the unknown fields: the omitted ones, and those that are `""` or 0 because the interface requires them. Empty if all fields are known. */
  readonly unknown: readonly string[]
}

export type TokenRow = {
  readonly token: string
  readonly chain: string
  readonly name: string
  readonly symbol: string
  readonly decimal?: number
  readonly total?: string
  readonly current_price_usd?: string
  readonly current_price_eth?: string
  readonly price_change_1d?: string
  readonly price_change_24h?: string
  readonly market_cap?: string
  readonly fdv?: string
  readonly tvl?: string
  readonly main_pair?: string
  readonly main_pair_tvl?: string
  readonly tx_volume_u_24h?: string
  readonly tx_amount_24h?: string
  readonly tx_count_24h?: number
  readonly holders?: number
  readonly launch_at?: number
  readonly created_at?: number
  readonly updated_at: number
  readonly launch_price?: string
  readonly burn_amount?: string
  readonly lock_amount?: string
  readonly logo_url?: string
  readonly issue_platform?: string
  readonly platform_progress?: string
  readonly risk_score?: number
  readonly is_honeypot: number
  readonly is_mintable?: number
  /** Names of the unknown fields: the omitted ones, and those that are `""` or 0 because the interface requires them. Empty if all fields are known. */
  readonly unknown: readonly string[]
  readonly token_price_change_5m?: string
  readonly token_tx_volume_usd_5m?: string
  readonly token_buy_tx_volume_usd_5m?: string
  readonly token_sell_tx_volume_usd_5m?: string
  readonly token_tx_count_5m?: number
  readonly token_buy_tx_count_5m?: number
  readonly token_sell_tx_count_5m?: number
  readonly token_makers_5m?: number
  readonly token_buyers_5m?: number
  readonly token_sellers_5m?: number
  readonly token_price_change_1h?: string
  readonly token_tx_volume_usd_1h?: string
  readonly token_buy_tx_volume_usd_1h?: string
  readonly token_sell_tx_volume_usd_1h?: string
  readonly token_tx_count_1h?: number
  readonly token_buy_tx_count_1h?: number
  readonly token_sell_tx_count_1h?: number
  readonly token_makers_1h?: number
  readonly token_buyers_1h?: number
  readonly token_sellers_1h?: number
  readonly token_price_change_4h?: string
  readonly token_tx_volume_usd_4h?: string
  readonly token_buy_tx_volume_usd_4h?: string
  readonly token_sell_tx_volume_usd_4h?: string
  readonly token_tx_count_4h?: number
  readonly token_buy_tx_count_4h?: number
  readonly token_sell_tx_count_4h?: number
  readonly token_makers_4h?: number
  readonly token_buyers_4h?: number
  readonly token_sellers_4h?: number
  readonly token_price_change_24h?: string
  readonly token_tx_volume_usd_24h?: string
  readonly token_buy_tx_volume_usd_24h?: string
  readonly token_sell_tx_volume_usd_24h?: string
  readonly token_tx_count_24h?: number
  readonly token_buy_tx_count_24h?: number
  readonly token_sell_tx_count_24h?: number
  readonly token_makers_24h?: number
  readonly token_buyers_24h?: number
  readonly token_sellers_24h?: number
}

export type TokenSummary = {
  readonly name: string
  readonly symbol: string
  readonly chain: string
  readonly current_price_usd: string
  readonly market_cap: string
  readonly holders: number
  readonly tvl: string
  readonly logo_url: string
  readonly updated_at: number
  /** Names of the unknown fields: the omitted ones, and those that are `""` or 0 because the interface requires them. Empty if all fields are known. */
  readonly unknown: readonly string[]
}

export type TokenWithPairs = {
  readonly is_audited: boolean
  readonly pairs: readonly TokenPair[]
  readonly token: TokenSummary
}

export type TrendingFactor = {
  readonly name: string
  readonly points: number
}

export type TrendingPage = {
  readonly current_page_size: number
  readonly next_page: number
  readonly total: number
  readonly tokens: readonly TrendingToken[]
}

export type TrendingScore = {
  readonly version: number
  readonly score: number
  readonly factors: readonly TrendingFactor[]
}

export type TrendingToken = {
  readonly token: string
  readonly chain: string
  readonly name: string
  readonly symbol: string
  readonly decimal?: number
  readonly total?: string
  readonly current_price_usd?: string
  readonly current_price_eth?: string
  readonly price_change_1d?: string
  readonly price_change_24h?: string
  readonly market_cap?: string
  readonly fdv?: string
  readonly tvl?: string
  readonly main_pair?: string
  readonly main_pair_tvl?: string
  readonly tx_volume_u_24h?: string
  readonly tx_amount_24h?: string
  readonly tx_count_24h?: number
  readonly holders?: number
  readonly launch_at?: number
  readonly created_at?: number
  readonly updated_at: number
  readonly launch_price?: string
  readonly burn_amount?: string
  readonly lock_amount?: string
  readonly logo_url?: string
  readonly issue_platform?: string
  readonly platform_progress?: string
  readonly risk_score?: number
  readonly is_honeypot: number
  readonly is_mintable?: number
  /** Names of the unknown fields: the omitted ones, and those that are `""` or 0 because the interface requires them. Empty if all fields are known. */
  readonly unknown: readonly string[]
  readonly token_price_change_5m?: string
  readonly token_tx_volume_usd_5m?: string
  readonly token_buy_tx_volume_usd_5m?: string
  readonly token_sell_tx_volume_usd_5m?: string
  readonly token_tx_count_5m?: number
  readonly token_buy_tx_count_5m?: number
  readonly token_sell_tx_count_5m?: number
  readonly token_makers_5m?: number
  readonly token_buyers_5m?: number
  readonly token_sellers_5m?: number
  readonly token_price_change_1h?: string
  readonly token_tx_volume_usd_1h?: string
  readonly token_buy_tx_volume_usd_1h?: string
  readonly token_sell_tx_volume_usd_1h?: string
  readonly token_tx_count_1h?: number
  readonly token_buy_tx_count_1h?: number
  readonly token_sell_tx_count_1h?: number
  readonly token_makers_1h?: number
  readonly token_buyers_1h?: number
  readonly token_sellers_1h?: number
  readonly token_price_change_4h?: string
  readonly token_tx_volume_usd_4h?: string
  readonly token_buy_tx_volume_usd_4h?: string
  readonly token_sell_tx_volume_usd_4h?: string
  readonly token_tx_count_4h?: number
  readonly token_buy_tx_count_4h?: number
  readonly token_sell_tx_count_4h?: number
  readonly token_makers_4h?: number
  readonly token_buyers_4h?: number
  readonly token_sellers_4h?: number
  readonly token_price_change_24h?: string
  readonly token_tx_volume_usd_24h?: string
  readonly token_buy_tx_volume_usd_24h?: string
  readonly token_sell_tx_volume_usd_24h?: string
  readonly token_tx_count_24h?: number
  readonly token_buy_tx_count_24h?: number
  readonly token_sell_tx_count_24h?: number
  readonly token_makers_24h?: number
  readonly token_buyers_24h?: number
  readonly token_sellers_24h?: number
  readonly trending?: TrendingScore
}

export type UdfConfig = {
  readonly supports_search: boolean
  readonly supports_group_request: boolean
  readonly supports_marks: boolean
  readonly supports_timescale_marks: boolean
  readonly supports_time: boolean
  readonly supported_resolutions: readonly string[]
}

export type UdfHistory = {
  readonly s: string
  readonly t?: readonly number[]
  readonly o?: readonly number[]
  readonly h?: readonly number[]
  readonly l?: readonly number[]
  readonly c?: readonly number[]
  readonly v?: readonly number[]
}

export type UdfSearchResult = {
  readonly symbol: string
  readonly full_name: string
  readonly description: string
  readonly exchange: string
  readonly ticker: string
  readonly type: string
}

export type UdfSymbol = {
  readonly ticker: string
  readonly name: string
  readonly description: string
  readonly type: string
  readonly session: string
  readonly timezone: string
  readonly exchange: string
  readonly listed_exchange: string
  readonly minmov: number
  readonly pricescale: number
  readonly has_intraday: boolean
  readonly has_seconds: boolean
  readonly seconds_multipliers: readonly string[]
  readonly has_daily: boolean
  readonly has_weekly_and_monthly: boolean
  readonly supported_resolutions: readonly string[]
  readonly data_status: string
}

export type Usage = {
  readonly plan: string
  readonly month: string
  readonly cu_limit: number
  readonly cu_used: number
  readonly cu_remaining?: number
  readonly reset_at?: number
  readonly days: readonly UsageDay[]
}

export type UsageDay = {
  readonly day: string
  readonly operations: readonly UsageOperation[]
}

export type UsageOperation = {
  readonly operation: string
  readonly requests: number
  readonly cu: number
}
