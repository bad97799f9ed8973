-- The newest versions of these, removals too.
SELECT * FROM tokens
WHERE chain = {chain:String} AND address IN {ids:Array(String)}
ORDER BY address, seq DESC
LIMIT 1 BY address
