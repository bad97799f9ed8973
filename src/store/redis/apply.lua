-- Applies document writes and removals, each only if it is not older than the stored one.
--
-- KEYS[1]: the chain's head
-- ARGV[1]: record version   ARGV[2]: lifetime of a tombstone in seconds   ARGV[3]: key of a ranking, without its name
-- ARGV[4]: seq of the expected head ('' if unknown)   ARGV[5]: lifetime of candles without a trade, in seconds
-- ARGV[6]: length, in candles, at which a tail is packed   ARGV[7]: the intervals in the order of their codes, comma-separated
-- ARGV[8] to ARGV[13]: keys of pairs, tokens, contracts, windows of pairs, windows of tokens and candles, without the address
-- ARGV[14]: the writes, concatenated. All numbers are big-endian; a text has a length prefix of 4 bytes. A write is its
--   kind (1 byte: 0 for pairs, and so on), the address, and then
--   for a document: seq (8 bytes), body (a text; empty for a removal), number of rankings (1), and the name and score of each
--   for candles: the start of each interval's series (a text, 4 bytes each; empty if unknown), number of records (4), and the
--     records: within each interval removals first, then by start. A record is the interval's code (plus 128 for a removal),
--     start (4 bytes), seq (8), length of the body (2; 65535 if it equals the previous record's body), body.
-- Returns {1, and for each tail to pack the index of its write, its interval, the tail, and the packed candles if the tail
--   corrects them}; {0} if data was lost.
--
-- A document is '<version>:<seq>:<names of its rankings>', a line feed, the body; a tombstone has no body.
--
-- '<group>/<rank>' is that ranking within a group. If its score is empty, it is taken from the ranking of all tokens, which
-- the token's windows update; they also update the score in the token's groups.
--
-- The candles of a pair are a hash. All numbers in it are big-endian. An interval has up to three fields:
--   '<interval>'         record version (1 byte), seq of its last change (8), from (4), top (4), body of the candle that
--                        starts at `top`, unless it was removed. No candle ever started after `top`, and the series is
--                        complete from `from` on.
--   '<interval>:tail'    a log of earlier and corrected candles: number of records (2; plus 32768 if some are corrections
--                        or removals), then for each its start (4), length (2), body; a body without a candle is a
--                        removal. The latest seq wins.
--   '<interval>:packed'  the older part of that log, packed: see pack.lua.
-- An interval contains all its changes up to its seq. An expired or evicted hash restarts with the next change.
local version, tombstone_seconds, rank = ARGV[1], ARGV[2], ARGV[3]
local expected, idle_seconds, tail_candles = tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6])
local HEADER_BYTES = 512
local TWO_32 = 4294967296
local CORRECTED = 32768
local SAME_BODY = 65535
local PAIR, TOKEN, TOKEN_WINDOWS, CANDLES = ARGV[8], ARGV[9], ARGV[12], ARGV[13]
local input, at = ARGV[14], 1
local head_seq
local answer = { 1 }
local intervals = {}
for name in string.gmatch(ARGV[7], '[^,]+') do intervals[#intervals + 1] = name end

local function take()
  local start = at + 4
  at = start + struct.unpack('>I4', input, at)
  return string.sub(input, start, at - 1)
end

local function header_of(key)
  return string.match(redis.call('GETRANGE', key, 0, HEADER_BYTES), '^%d+:(%d+):?([^\n]*)\n')
end

local function put_rank(name, score, member)
  if score then redis.call('ZADD', rank .. name, score, member) else redis.call('ZREM', rank .. name, member) end
end

local function rank_in_groups(owner, scores, member)
  local _, names = header_of(owner)
  for name, base in string.gmatch(names or '', '([^,/]+/([^,]+))') do
    -- The token's document updates the other rankings of its groups.
    if base == 'volume_24h' then put_rank(name, scores[base], member) end
  end
end

local function apply_document(prefix, member)
  local key = prefix .. member
  local high, low, count, scores, names
  high, low, at = struct.unpack('>I4I4', input, at)
  local seq, body = high * TWO_32 + low, take()
  count, at = struct.unpack('>B', input, at)
  scores, names = {}, {}
  for i = 1, count do
    names[i] = take()
    scores[names[i]] = take()
  end
  local stored_seq, stored_names = header_of(key)
  if stored_seq and seq < tonumber(stored_seq) then return end
  for name in string.gmatch(stored_names or '', '[^,]+') do
    if not scores[name] then redis.call('ZREM', rank .. name, member) end
  end
  for name, score in pairs(scores) do
    put_rank(name, score ~= '' and score or redis.call('ZSCORE', rank .. string.match(name, '/(.+)$'), member), member)
  end
  if prefix == TOKEN_WINDOWS then rank_in_groups(TOKEN .. member, scores, member) end
  local header = version .. ':' .. string.format('%.0f', seq) .. (count == 0 and '' or ':' .. table.concat(names, ',')) .. '\n'
  if body == '' then
    redis.call('SET', key, header, 'EX', tombstone_seconds)
  else
    redis.call('SET', key, header .. body)
  end
end

-- The stored interval of a pair; false if there is none.
local function open_series(name, value)
  if not value then return false end
  local _, high, low, from, top, next = struct.unpack('>BI4I4I4I4', value)
  return { name = name, done = high * TWO_32 + low, from = from, top = top, open = string.sub(value, next) }
end

local function append(key, series, start, body, is_correction)
  if not series.parts then
    local tail = redis.call('HGET', key, series.name .. ':tail')
    local header = tail and struct.unpack('>I2', tail) or 0
    series.count, series.is_corrected = header % CORRECTED, header >= CORRECTED
    series.parts = { tail and string.sub(tail, 3) or '' }
  end
  series.count = series.count + 1
  series.is_corrected = series.is_corrected or is_correction
  series.parts[#series.parts + 1] = struct.pack('>I4I2', start, #body) .. body
end

local function put_candle(key, series, start, body, is_removal)
  if start < series.from then return end
  if is_removal then
    if start == series.top then series.open = '' end
    append(key, series, start, body, true)
  elseif start < series.top then
    append(key, series, start, body, true)
  else
    if start > series.top and series.open ~= '' then append(key, series, series.top, series.open, false) end
    series.top, series.open = start, body
  end
end

local function apply_candles(index, address)
  local key, froms, body = CANDLES .. address, take(), nil
  local stored, series, known = redis.call('HMGET', key, unpack(intervals)), {}, nil
  local count
  count, at = struct.unpack('>I4', input, at)
  for _ = 1, count do
    local code, start, high, low, length, next = struct.unpack('>BI4I4I4I2', input, at)
    if length ~= SAME_BODY then
      at = next + length
      body = string.sub(input, next, at - 1)
    else
      at = next
    end
    local is_removal, nth, seq = code >= 128, code % 128 + 1, high * TWO_32 + low
    local one = series[nth] or open_series(intervals[nth], stored[nth])
    if not one then
      if known == nil then known = froms == '' and redis.call('EXISTS', PAIR .. address) == 1 end
      local from = known and start or froms ~= '' and struct.unpack('>I4', froms, nth * 4 - 3) or 0
      -- A removal or a repeated change is not the latest state of an expired series, which restarts with the next candle.
      if seq > head_seq and not (known and is_removal) then
        one = { name = intervals[nth], done = -1, from = from, top = 0, open = '' }
      end
    end
    series[nth] = one or nil
    if one and seq > one.done then
      one.last = math.max(one.last or 0, seq)
      put_candle(key, one, start, body, is_removal)
    end
  end
  local fields = {}
  for _, one in pairs(series) do
    if one.last then
      local header = struct.pack('>BI4I4I4I4', version, math.floor(one.last / TWO_32), one.last % TWO_32, one.from, one.top)
      fields[#fields + 1] = one.name
      fields[#fields + 1] = header .. one.open
      if one.parts then
        local tail = struct.pack('>I2', one.count + (one.is_corrected and CORRECTED or 0)) .. table.concat(one.parts)
        fields[#fields + 1] = one.name .. ':tail'
        fields[#fields + 1] = tail
        if one.count >= tail_candles then
          answer[#answer + 1] = index
          answer[#answer + 1] = one.name
          answer[#answer + 1] = tail
          answer[#answer + 1] = one.is_corrected and redis.call('HGET', key, one.name .. ':packed') or ''
        end
      end
    end
  end
  if #fields == 0 then return end
  redis.call('HSET', key, unpack(fields))
  redis.call('EXPIRE', key, idle_seconds)
end

head_seq = tonumber(string.match(redis.call('GETRANGE', KEYS[1], 0, HEADER_BYTES), '^%d+:(%d+)')) or -1
if expected and head_seq < expected then return { 0 } end
local index = 0
while at <= #input do
  index = index + 1
  local prefix = ARGV[8 + string.byte(input, at)]
  at = at + 1
  local address = take()
  if prefix == CANDLES then apply_candles(index, address) else apply_document(prefix, address) end
end
return answer
