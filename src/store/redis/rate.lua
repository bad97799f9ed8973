-- A token bucket of one key, shared by all gateways: each leases tokens and spends them locally.
--
-- KEYS[1]: a hash with 'tokens', and the time 'at' (milliseconds) of that count
-- KEYS[2]: a sorted set of the gateways that lease from it, by the time of their last call
-- ARGV: gateway, tokens per second, burst, tokens returned, tokens wanted, milliseconds without a call after which a gateway
--   no longer counts
-- Returns {granted, thousandths of a token left, gateways}.
local gateway, per_second, burst = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local given_back, want, active_ms = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local known = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(known[1] or burst), tonumber(known[2] or now)
-- A clock that was set back must not block the bucket.
local elapsed = math.max(0, now - at)
tokens = math.min(burst, tokens + elapsed * per_second / 1000 + given_back)
local granted = math.min(want, math.floor(tokens))
tokens = tokens - granted

redis.call('HSET', KEYS[1], 'tokens', string.format('%.6f', tokens), 'at', now)
-- A missing bucket counts as full, so it has no expiry: volatile-lru may evict keys that have one.
redis.call('PERSIST', KEYS[1])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - active_ms)
redis.call('ZADD', KEYS[2], now, gateway)
redis.call('PERSIST', KEYS[2])
return { granted, math.floor(tokens * 1000), redis.call('ZCARD', KEYS[2]) }
