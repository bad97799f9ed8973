-- Applies document writes and removals, each only if it is not older than what is stored.
--
-- KEYS[1]: the chain's head
-- ARGV[1]: record version   ARGV[2]: seconds that a tombstone lives   ARGV[3]: key of a rank, without its name
-- ARGV[4]: seq of the head that must be there ('' if none is known)   ARGV[5]: seconds that candles live without a trade
-- ARGV[6]: candles in a tail that is to be packed   ARGV[7]: the intervals, by their codes, separated by commas
-- ARGV[8] to ARGV[13]: keys of pairs, tokens, contracts, windows of pairs, windows of tokens and candles, without the address
-- ARGV[14]: the writes, one after the other. All numbers are big-endian; a text has its length before it (4 bytes). A write is its
--   kind (1 byte: 0 for pairs, and so on), the address, and then
--   of a document: seq (8 bytes), body (as a text; empty for a removal), how many ranks it stands in (1), and of each its name
--     and the score
--   of candles: where each interval begins (as a text, 4 bytes each; empty if that is not known), how many records (4), and records:
--     of each interval the removals first, then by start. A record is the interval's code (with 128 added for a removal),
--     start (4 bytes), seq (8), length of the body (2; 65535 if it is that of the record before), body.
-- Returns {1, and of each tail that is to be packed the index of its write, its interval, the tail, and what is packed already
--   if the tail corrects it}; {0} if data was lost.
--
-- A document is '<version>:<seq>:<names of its ranks>', a line end, the body; a tombstone has no body.
--
-- '<group>/<rank>' is that rank within a group. Its score may be empty: it is then taken from the rank of all, where
-- another document put it; that one names this one as its owner, and keeps the score up to date in its groups.
--
-- The candles of a pair are a hash. All numbers in it are big-endian. An interval has up to three fields:
--   '<interval>'         record version (1 byte), seq of its last change (8), from (4), top (4), body of the candle that
--                        starts at `top`, unless that was removed. No candle ever started later than `top`, and of all
--                        that start at `from` or later none is missing.
--   '<interval>:tail'    a log of what is not there any more or was corrected: number of records (2; with 32768
--                        added if some are corrections or removals), then of each its start (4), length (2), body; a body without a candle is a removal. The newest seq counts.
--   '<interval>:packed'  the older part of that log, packed: see pack.lua.
-- All changes of an interval up to its seq are in it. A hash that expired or was evicted begins anew, with what comes next.
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
    -- The other ranks of the group are the owner's own.
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

-- An interval of a pair, as far as it is stored; false if it is not.
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
      -- What is taken back of an expired series, or told again, is not its newest state: it begins with what comes next.
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
