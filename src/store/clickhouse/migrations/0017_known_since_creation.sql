ALTER TABLE pairs
    COMMENT COLUMN created_at 'Time of its creation event; NULL if that was before the first block read',
    COMMENT COLUMN first_trade_at 'Time of the first swap; NULL if there was none, or the creation was not read',
    COMMENT COLUMN ath_price_usd 'Highest price in dollars; NULL if unknown, or the creation was not read',
    COMMENT COLUMN token0_initial_reserve_raw 'First reserve that was not zero, in base units; NULL if unknown, or the creation was not read',
    COMMENT COLUMN token1_initial_reserve_raw 'First reserve that was not zero, in base units; NULL if unknown, or the creation was not read'
