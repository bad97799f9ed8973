-- The latest versions of these documents, including removals.
SELECT * FROM pairs
WHERE chain = {chain:String} AND address IN {ids:Array(String)}
ORDER BY address, seq DESC
LIMIT 1 BY address
