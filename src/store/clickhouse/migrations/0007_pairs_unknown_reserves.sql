ALTER TABLE pairs
    MODIFY COLUMN token0_reserve_raw Nullable(UInt256) COMMENT 'Reserve, in base units; NULL if unknown',
    MODIFY COLUMN token0_initial_reserve_raw Nullable(UInt256) COMMENT 'Reserve when first seen, in base units; NULL if unknown',
    MODIFY COLUMN token1_reserve_raw Nullable(UInt256) COMMENT 'Reserve, in base units; NULL if unknown',
    MODIFY COLUMN token1_initial_reserve_raw Nullable(UInt256) COMMENT 'Reserve when first seen, in base units; NULL if unknown'
