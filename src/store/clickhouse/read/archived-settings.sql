SELECT seq, link, checksum, base64Encode(body) AS body
FROM archived_blocks FINAL
WHERE chain = {chain:String} AND epoch = {epoch:String} AND kind = 'settings'
ORDER BY seq
