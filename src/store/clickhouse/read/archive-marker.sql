SELECT seq, link
FROM archive_markers FINAL
WHERE chain = {chain:String} AND epoch = {epoch:String}
ORDER BY seq DESC
LIMIT 1
