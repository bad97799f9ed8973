ALTER TABLE trades
    ADD COLUMN IF NOT EXISTS is_token0_sold Nullable(Bool) COMMENT 'The sold token is the first one of the pair; NULL if no holding is known',
    ADD COLUMN IF NOT EXISTS wallet_native_raw Nullable(UInt256) COMMENT 'Native coins of the wallet after the transaction, in base units; NULL if unknown' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS sold_held_raw Nullable(UInt256) COMMENT 'Sold tokens of the wallet after the transaction, in base units; NULL if unknown' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS sold_accounts Nullable(UInt8) COMMENT 'Its accounts of the sold token that the transaction created (1), closed (2) or cleared (4)',
    ADD COLUMN IF NOT EXISTS bought_held_raw Nullable(UInt256) COMMENT 'Bought tokens of the wallet after the transaction, in base units; NULL if unknown' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS bought_accounts Nullable(UInt8) COMMENT 'Its accounts of the bought token that the transaction created (1), closed (2) or cleared (4)'
