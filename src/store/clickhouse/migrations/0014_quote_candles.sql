ALTER TABLE candles
    ADD COLUMN IF NOT EXISTS quote_as Nullable(Enum8('usd' = 1, 'native' = 2)) COMMENT 'usd or native: the values in the quote token of the pair are those; NULL: they are in quote_open and so on',
    ADD COLUMN IF NOT EXISTS quote_open Nullable(Decimal(76, 40)) COMMENT 'First price in the quote token; NULL if unknown, or see quote_as' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS quote_high Nullable(Decimal(76, 40)) COMMENT 'Highest price in the quote token; NULL if unknown, or see quote_as' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS quote_low Nullable(Decimal(76, 40)) COMMENT 'Lowest price in the quote token; NULL if unknown, or see quote_as' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS quote_close Nullable(Decimal(76, 40)) COMMENT 'Last price in the quote token; NULL if unknown, or see quote_as' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS quote_volume Nullable(Decimal(76, 18)) COMMENT 'Amount traded of the quote token; NULL if unknown, or see quote_as' CODEC(ZSTD(1))
