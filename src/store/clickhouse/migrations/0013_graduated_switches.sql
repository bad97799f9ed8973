ALTER TABLE switches
    COMMENT COLUMN IF EXISTS reason 'deeper: the new pair is; emptied: what the old one holds is not known any more; graduated: the old one is the bonding curve that launched the token, and was closed'
