-- The latest versions of these documents, including removals.
SELECT token, seq, is_deleted, report FROM contracts
WHERE chain = {chain:String} AND token IN {ids:Array(String)}
ORDER BY token, seq DESC
LIMIT 1 BY token
