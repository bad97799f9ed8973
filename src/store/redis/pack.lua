-- Puts packed candles in the place of the tail that they were packed from.
--
-- KEYS: the candles of pairs
-- ARGV[1]: candles that an interval keeps, at least
-- then for each key: the interval, the SHA-1 of the tail, '1' if all that was packed before is in the chunks, and chunks. A chunk is the length of its body (2 bytes), how many
--   candles it holds (2), the latest start among them (4), the body. Removals do not count.
--
-- '<interval>:packed' is chunks, oldest first, and in them every candle once, in the order of their starts. Whole ones are dropped, and the interval then begins after them.
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
