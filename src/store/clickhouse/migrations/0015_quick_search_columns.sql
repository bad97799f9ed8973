-- A short or a much copied keyword is a long range, and most of the time for it went into unpacking. Packed like this the
-- table is twice as large, which is little, and read in two thirds of the time. Rows that are there follow as they are merged.
ALTER TABLE token_search
    MODIFY COLUMN term CODEC(LZ4),
    MODIFY COLUMN address CODEC(LZ4),
    MODIFY COLUMN standing CODEC(LZ4)
