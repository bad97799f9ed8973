-- Puts packed candles in the place of the tail that they were packed from.
--
-- KEYS: the candles of pairs
-- ARGV[1]: candles that an interval keeps; versions that a fork corrected count, too
-- then for each key: the interval, the SHA-1 of the tail, and chunks. A chunk is the length of its body (2 bytes), how many
--   candles it holds (2), the latest start among them (4), the body. Removals do not count.
--
-- '<interval>:packed' is chunks, oldest first. Whole ones are dropped, and the interval then begins after them.
-- A tail that has changed meanwhile stays as it is: it will be packed another time.
local kept = tonumber(ARGV[1])

-- Of the first chunks, as many bytes as can be dropped, and the latest start in them.
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
    if total - count < kept then break end
    total = total - count
    bytes = bytes + 8 + length
    latest = math.max(latest or 0, start)
  end
  return bytes, latest
end

for i = 1, #KEYS do
  local key, interval, sha1, chunks = KEYS[i], ARGV[i * 3 - 1], ARGV[i * 3], ARGV[i * 3 + 1]
  local header, tail, packed = unpack(redis.call('HMGET', key, interval, interval .. ':tail', interval .. ':packed'))
  if header and tail and redis.sha1hex(tail) == sha1 then
    packed = (packed or '') .. chunks
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
