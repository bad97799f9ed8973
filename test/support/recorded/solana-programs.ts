/** Program ids on mainnet; the CPMM of devnet is in one recorded transaction. */
export const SOLANA_DEPLOYMENTS = [
  { protocol: 'pump_fun', factory: '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P' },
  { protocol: 'pumpswap', factory: 'pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA' },
  { protocol: 'raydium_amm_v4', factory: '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8' },
  { protocol: 'raydium_cpmm', factory: 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C' },
  { protocol: 'raydium_cpmm', factory: 'DRaycpLY18LhpbydsBWbVJtxpNv9oXPgjRSfpF2bWpYb' },
  { protocol: 'raydium_clmm', factory: 'CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK' },
  { protocol: 'raydium_launchlab', factory: 'LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj' },
  { protocol: 'orca_whirlpool', factory: 'whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc' },
  { protocol: 'meteora_dlmm', factory: 'LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo' },
  { protocol: 'meteora_damm_v1', factory: 'Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB' },
  { protocol: 'meteora_damm_v2', factory: 'cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG' },
  { protocol: 'meteora_dbc', factory: 'dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN' },
  { protocol: 'moonshot', factory: 'MoonCVVNZFSYkqNXP6bxHLPL6QQJiMagDL3qcqUQTrG' },
] as const
