-- Sorted by what is searched, so that a prefix is a range of the key. A token's terms follow from its names and never
-- change. That a token was undone is not told here: whoever finds it asks for the token itself anyway.
CREATE TABLE IF NOT EXISTS token_search
(
    kind Enum8('symbol' = 1, 'name' = 2, 'word' = 3) COMMENT 'What the term is made of: the symbol, the name, or the name from a later word on',
    term String COMMENT 'In small letters, each letter for all that look like it' CODEC(ZSTD(1)),
    chain LowCardinality(String) COMMENT 'Name of the chain',
    address String COMMENT 'Address of the token' CODEC(ZSTD(1)),
    seq UInt64 COMMENT 'Version: the newest one of a key counts' CODEC(Delta, ZSTD(1)),
    is_deleted UInt8 COMMENT 'Always 0',
    standing UInt64 COMMENT 'Whole dollars that its main pair holds; 0 if unknown' CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(seq, is_deleted)
ORDER BY (kind, term, chain, address)
-- Most searches end at a few rows.
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, index_granularity = 1024
COMMENT 'What tokens are found by; read with FINAL'
