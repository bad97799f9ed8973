-- Symbols that are equal first, then those that begin with it, then names; of each those that stand highest. Only what
-- may be among the first is compared by version, three of them for each token on average: the versions of a token
-- that are not merged yet differ little, and whoever asks takes the figures from elsewhere.
SELECT chain, address FROM
(
    SELECT chain, address, standing, multiIf(kind != 'symbol', 2, term != {skeleton:String}, 1, 0) AS class
    FROM token_search
    WHERE kind <= {last_kind:String} AND startsWith(term, {skeleton:String}) AND chain IN {chains:Array(String)}
    ORDER BY class, standing DESC
    LIMIT {limit:UInt32} * 3
)
ORDER BY class, standing DESC, chain, address
LIMIT 1 BY chain, address
LIMIT {limit:UInt32}
