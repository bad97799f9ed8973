-- Replaces tails by the packed candles made from them.
--
-- KEYS: the candles of pairs
-- ARGV[1]: minimum number of candles retained per interval
-- then for each key: the interval, the SHA-1 of the tail, '1' if the chunks include all candles packed before, and the
--   chunks. A chunk is the length of its body (2 bytes), its number of candles (2), the latest start among them (4), the
--   body. Removals do not count.
--
-- '<interval>:packed' is a list of chunks, oldest first, with every candle once, sorted by start. Surplus chunks are
-- dropped as a whole, and the interval then starts after them.
-- A tail that has changed meanwhile is left for the next packing.
local retained = tonumber(ARGV[1])

-- The number of leading bytes that can be dropped in whole chunks, and the latest start among them.
local function surplus(packed)
  local total, place = 1, 1
  while place <= #packed do
    local length, count = struct.unpack('>I2I2', packed, place)
    total = total + count
    place = place + 8 + length
  end
  local bytes, latest = 0, nil
  while bytes < #packed do
    local length, count, start = struct.unpack('>I2I2I4', packed, bytes + 1)
    if total - count < retained then break end
    total = total - count
    bytes = bytes + 8 + length
    latest = math.max(latest or 0, start)
  end
  return bytes, latest
end

for i = 1, #KEYS do
  local key, interval, sha1 = KEYS[i], ARGV[i * 4 - 2], ARGV[i * 4 - 1]
  local is_all, chunks = ARGV[i * 4] == '1', ARGV[i * 4 + 1]
  local header, tail, packed = unpack(redis.call('HMGET', key, interval, interval .. ':tail', interval .. ':packed'))
  if header and tail and redis.sha1hex(tail) == sha1 then
    packed = (is_all and '' or packed or '') .. chunks
    local bytes, latest = surplus(packed)
    redis.call('HDEL', key, interval .. ':tail')
    redis.call('HSET', key, interval .. ':packed', string.sub(packed, bytes + 1))
    if latest then
      local from = math.max(struct.unpack('>I4', header, 10), latest + 1)
      redis.call('HSET', key, interval, string.sub(header, 1, 9) .. struct.pack('>I4', from) .. string.sub(header, 14))
    end
  end
end
return 1
