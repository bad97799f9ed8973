-- Leases credit units of one key and month to one gateway.
--
-- KEYS[2]: the hash of two months before, which is no longer needed
-- KEYS[1]: a hash with a field per gateway that ever spent from it: '<spent>:<ceiling>:<until>:<call>'
--   spent    total spending that the gateway has reported
--   ceiling  total that it may spend; the difference is leased
--   until    end of the lease in milliseconds; after it only the reported spending counts
--   call     number of the gateway's call that wrote this
-- ARGV: gateway, call, spent, ceiling (of the gateway, before this call), limit, need, want, least, lifetime of a lease in
--   milliseconds, '1' if the hash may be created, then pairs of a gateway and its spending, to recreate a lost hash
-- Returns {granted, spent by all, leased to others, first end of those leases}; {-1} if there is no hash,
--   {-2} if a later call of the gateway was processed before.
local gateway, call = ARGV[1], tonumber(ARGV[2])
local spent, ceiling, limit = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local need, want, least = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local lease_ms, may_make = tonumber(ARGV[9]), ARGV[10] == '1'

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local function read(value)
  local s, c, u, n = string.match(value, '^(%d+):(%d+):(%d+):(%d+)$')
  return { spent = tonumber(s), ceiling = tonumber(c), ends = tonumber(u), call = tonumber(n) }
end

local entries = {}
local flat = redis.call('HGETALL', KEYS[1])
for i = 1, #flat, 2 do entries[flat[i]] = read(flat[i + 1]) end
if #flat == 0 and not may_make then return { -1 } end

-- Recorded spending is merged as a maximum, so that repeated and concurrent reports are harmless.
for i = 11, #ARGV, 2 do
  local name, remembered = ARGV[i], tonumber(ARGV[i + 1])
  local entry = entries[name]
  if name ~= gateway and (entry == nil or entry.spent < remembered) then
    entry = entry or { ceiling = 0, ends = 0, call = 0 }
    entry.spent = remembered
    entry.ceiling = math.max(entry.ceiling, remembered)
    entries[name] = entry
    redis.call('HSET', KEYS[1], name,
      string.format('%d:%d:%d:%d', entry.spent, entry.ceiling, entry.ends, entry.call))
  end
end

local own = entries[gateway]
if own ~= nil and own.call >= call then return { -2 } end

local spent_by_all, leased_to_others, holders, first_end = spent, 0, 1, 0
for name, entry in pairs(entries) do
  if name ~= gateway then
    spent_by_all = spent_by_all + entry.spent
    if entry.ends > now and entry.ceiling > entry.spent then
      leased_to_others = leased_to_others + entry.ceiling - entry.spent
      holders = holders + 1
      if first_end == 0 or entry.ends < first_end then first_end = entry.ends end
    end
  end
end

-- Near the limit a lease shrinks to a share of the remaining units, and finally to the immediate need.
local left = limit - (spent_by_all - spent) - leased_to_others - ceiling
local share = math.floor(left / (2 * holders))
local granted = math.max(0, math.min(left, math.max(need, math.min(want, share))))
if granted < least then granted = 0 end

redis.call('HSET', KEYS[1], gateway, string.format('%d:%d:%d:%d', spent, ceiling + granted, now + lease_ms, call))
-- No expiry, because volatile-lru may evict keys that have one.
redis.call('PERSIST', KEYS[1])
redis.call('UNLINK', KEYS[2])
return { granted, spent_by_all, leased_to_others, first_end == 0 and 0 or first_end - now }
