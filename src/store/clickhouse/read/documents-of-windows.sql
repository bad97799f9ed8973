-- The latest versions of these documents, including removals.
SELECT * FROM windows
WHERE chain = {chain:String} AND kind = {kind:String} AND id IN {ids:Array(String)}
ORDER BY id, seq DESC
LIMIT 1 BY id
