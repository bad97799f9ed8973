SELECT seq
FROM archived_blocks
WHERE chain = {chain:String} AND epoch = {epoch:String} AND kind = 'settings'
ORDER BY seq DESC
LIMIT 1
