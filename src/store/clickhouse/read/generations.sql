SELECT entry
FROM generations FINAL
WHERE chain = {chain:String}
LIMIT 1
