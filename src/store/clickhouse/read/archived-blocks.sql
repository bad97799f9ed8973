SELECT seq, previous_seq, link, checksum, base64Encode(body) AS body
FROM archived_blocks FINAL
WHERE chain = {chain:String} AND epoch = {epoch:String} AND seq > {after:UInt64} AND seq <= {until:UInt64}
ORDER BY seq
LIMIT {limit:UInt32}
