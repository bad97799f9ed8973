-- A sum that does not fit its type is unknown. The codecs of the columns stay as they are.
ALTER TABLE windows
    MODIFY COLUMN buy_usd_1m Nullable(Decimal(76, 18)) COMMENT 'Dollars paid for the target token in the last minute; NULL if unknown',
    MODIFY COLUMN sell_usd_1m Nullable(Decimal(76, 18)) COMMENT 'Dollars got for the target token in the last minute; NULL if unknown',
    MODIFY COLUMN buy_usd_5m Nullable(Decimal(76, 18)) COMMENT 'Dollars paid for the target token in the last 5 minutes; NULL if unknown',
    MODIFY COLUMN sell_usd_5m Nullable(Decimal(76, 18)) COMMENT 'Dollars got for the target token in the last 5 minutes; NULL if unknown',
    MODIFY COLUMN buy_usd_15m Nullable(Decimal(76, 18)) COMMENT 'Dollars paid for the target token in the last 15 minutes; NULL if unknown',
    MODIFY COLUMN sell_usd_15m Nullable(Decimal(76, 18)) COMMENT 'Dollars got for the target token in the last 15 minutes; NULL if unknown',
    MODIFY COLUMN buy_usd_1h Nullable(Decimal(76, 18)) COMMENT 'Dollars paid for the target token in the last hour; NULL if unknown',
    MODIFY COLUMN sell_usd_1h Nullable(Decimal(76, 18)) COMMENT 'Dollars got for the target token in the last hour; NULL if unknown',
    MODIFY COLUMN buy_usd_4h Nullable(Decimal(76, 18)) COMMENT 'Dollars paid for the target token in the last 4 hours; NULL if unknown',
    MODIFY COLUMN sell_usd_4h Nullable(Decimal(76, 18)) COMMENT 'Dollars got for the target token in the last 4 hours; NULL if unknown',
    MODIFY COLUMN buy_usd_24h Nullable(Decimal(76, 18)) COMMENT 'Dollars paid for the target token in the last 24 hours; NULL if unknown',
    MODIFY COLUMN sell_usd_24h Nullable(Decimal(76, 18)) COMMENT 'Dollars got for the target token in the last 24 hours; NULL if unknown',
    MODIFY COLUMN amount_raw Nullable(UInt256) COMMENT 'Amount of the target token traded in 24 hours, in base units; NULL if unknown'
