-- Equal symbols first, then symbols with this prefix, then names; within each class the highest ranked first. Only the top
-- rows are deduplicated, at three versions per token: unmerged versions of a token differ little, and the caller reads the
-- figures elsewhere.
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
