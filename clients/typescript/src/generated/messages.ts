// Generated from the description of the gateway: `npm run client:types`. Do not edit.

export type TxMessage = {
  readonly jsonrpc: '2.0'
  readonly id: number
  readonly result: {
    readonly id: string
    readonly topic: 'tx'
    readonly tx: {
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
      readonly profile?: string
      readonly tx_seq?: string
      readonly tx_swap_type: number
      readonly wallet_address: string
      readonly wallet_tag: readonly string[] | null
      /** Only if the subscription has an options object: names of the fields that are empty because they are unknown. Empty if all fields are known. */
      readonly unknown?: readonly string[]
    }
  }
  readonly sent_time: number
  readonly cursor?: string
  readonly seq?: number
}

export type LiqMessage = {
  readonly jsonrpc: '2.0'
  readonly id: number
  readonly result: {
    readonly id: string
    readonly topic: 'liq'
    readonly liq: {
      readonly id: string
      readonly time: number
      readonly block_number: number
      readonly chain: string
      readonly transaction: string
      readonly amm: string
      readonly sender: string
      readonly wallet_address: string
      readonly pair_address: string
      readonly type: string
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
      /** Only if the subscription has an options object: names of the fields that are empty because they are unknown. Empty if all fields are known. */
      readonly unknown?: readonly string[]
    }
  }
  readonly sent_time: number
  readonly cursor?: string
  readonly seq?: number
}

export type KlineMessage = {
  readonly jsonrpc: '2.0'
  readonly id: number
  readonly result: {
    readonly id: string
    readonly interval: string
    readonly kline: {
      readonly eth: {
        readonly open: string
        readonly high: string
        readonly low: string
        readonly close: string
        readonly volume: string
        readonly time: number
        /** Only if the subscription has an options object: names of the fields that are empty because they are unknown. Empty if all fields are known. */
        readonly unknown?: readonly string[]
      }
      readonly usd: {
        readonly open: string
        readonly high: string
        readonly low: string
        readonly close: string
        readonly volume: string
        readonly time: number
        readonly amount_24h: string
        readonly change: string
        readonly change_v2: string
        readonly count_24h: string
        readonly high_24h: string
        readonly low_24h: string
        readonly swap: string
        readonly volume_24h: string
        /** Only if the subscription has an options object: names of the fields that are empty because they are unknown. Empty if all fields are known. */
        readonly unknown?: readonly string[]
      }
    }
    readonly topic: 'kline'
    readonly revision?: number
  }
  readonly sent_time: number
  readonly cursor?: string
  readonly seq?: number
}

export type PriceMessage = {
  readonly jsonrpc: '2.0'
  readonly id: number
  readonly result: {
    readonly prices: readonly {
      readonly chain: string
      readonly pair: string
      readonly is_main_pair: boolean
      readonly target_token: string
      readonly uprice: string
      readonly last_price: string
      readonly reserve0: string
      readonly reserve1: string
      readonly price_change: string
      readonly price_change_24h: string
      readonly volume_24_u: string
      readonly direction: string
      readonly time: number
      readonly change: string
      readonly tvl: string
      readonly makers_24h: string
      readonly tx_amount_24h: string
      readonly tx_count_24h: string
      /** Only if the subscription has an options object: names of the fields that are empty because they are unknown. Empty if all fields are known. */
      readonly unknown?: readonly string[]
    }[]
    readonly topic: 'price'
  }
  readonly sent_time: number
  readonly cursor?: string
  readonly seq?: number
}

export type RevertMessage = {
  readonly jsonrpc: '2.0'
  readonly id: number
  readonly result: {
    readonly id: string
    readonly ids?: readonly string[]
    readonly interval?: string
    readonly time?: number
    readonly topic: 'revert'
  }
  readonly sent_time: number
  readonly cursor?: string
  readonly seq?: number
}

export type CheckpointMessage = {
  readonly jsonrpc: '2.0'
  readonly id: number
  readonly result: {
    readonly topic: 'checkpoint'
  }
  readonly sent_time: number
  readonly cursor?: string
  readonly seq?: number
}

export type SwitchMessage = {
  readonly jsonrpc: '2.0'
  readonly id: number
  readonly result: {
    readonly data: {
      readonly chain: string
      readonly event: string
      readonly id: string
      readonly new_main_pair: string
      readonly old_main_pair: string
      readonly tag: string
      readonly token: string
      readonly new_main_pair_data: {
        readonly amm: string
        readonly chain: string
        readonly init_reserve0: number
        readonly init_reserve1: number
        readonly pair: string
        readonly reserve0: number
        readonly reserve1: number
        readonly tag: string
        readonly target_token: string
        readonly token0_address: string
        readonly token0_decimal: number
        readonly token0_symbol: string
        readonly token1_address: string
        readonly token1_decimal: number
        readonly token1_symbol: string
        readonly tvl: number
      }
    }
    readonly status: 'ok'
  }
  readonly cursor?: string
  readonly seq?: number
}
