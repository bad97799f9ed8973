SELECT sum(value) AS count
FROM system.errors
WHERE name = 'CORRUPTED_DATA'
