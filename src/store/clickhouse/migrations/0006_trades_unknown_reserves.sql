-- What a pool holds is not told by the events of every exchange.
ALTER TABLE trades
    MODIFY COLUMN sold_reserve_raw Nullable(UInt256) COMMENT 'Reserve of the pool after the swap, in base units; NULL if unknown',
    MODIFY COLUMN bought_reserve_raw Nullable(UInt256) COMMENT 'Reserve of the pool after the swap, in base units; NULL if unknown'
