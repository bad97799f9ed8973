SELECT chain, seq, number, hash, time, start_time, final_number, log_epoch, log_seq, log_link
FROM markers
WHERE chain = {chain:String}
ORDER BY seq DESC
LIMIT 1
