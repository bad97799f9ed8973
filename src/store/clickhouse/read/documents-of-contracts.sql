-- The newest versions of these, removals too.
SELECT token, seq, is_deleted, report FROM contracts
WHERE chain = {chain:String} AND token IN {ids:Array(String)}
ORDER BY token, seq DESC
LIMIT 1 BY token
