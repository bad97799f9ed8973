ALTER TABLE markers
    ADD COLUMN IF NOT EXISTS start_time Nullable(DateTime('UTC')) COMMENT 'Time of the first block that was read; NULL if unknown'
