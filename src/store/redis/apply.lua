-- Applies document writes and removals, each only if it is not older than what is stored.
--
-- KEYS[1]: the chain's head   KEYS[2...]: the documents, series and all
-- ARGV[1]: record version   ARGV[2]: seconds that a tombstone lives   ARGV[3]: key of a rank, without its name
-- ARGV[4]: seq of the head that must be there ('' if none is known)   ARGV[5]: candles that a series keeps
-- then for each key what it takes:
--   'document', seq, body (empty for a removal), key of its owner ('' if it has none), how many ranks it stands in, and
--     of each its name and the score
--   'series', start of the oldest candle told ('' if there are no older ones), how many candles follow, and of
--     each its start, seq and body (empty for a removal): removals first, then by start
-- Returns 1, or 0 if data was lost.
--
-- A document is '<version>:<seq>:<names of its ranks>', a line end, the body; a tombstone has no body.
--
-- '<group>/<rank>' is that rank within a group. Its score may be empty: it is then taken from the rank of all, where
-- another document put it; that one names this one as its owner, and keeps the score up to date in its groups.
--
-- A series is a hash: a field of each start, but the newest candle in the field 'newest', each '<version>:<seq>', a
-- line end, the body; and 'about': '<version>:<seq>:<from>:<start of the newest>'. All changes of the series up to
-- that seq are in it, and of all that start at `from` or later none is missing.
local version, tombstone_seconds, rank = ARGV[1], ARGV[2], ARGV[3]
local expected, kept = tonumber(ARGV[4]), tonumber(ARGV[5])
local HEADER_BYTES = 512
local at = 5

local function take()
  at = at + 1
  return ARGV[at]
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

local function apply_document(key)
  local seq, body, owner, count = take(), take(), take(), tonumber(take())
  local scores, names = {}, {}
  for i = 1, count do
    names[i] = take()
    scores[names[i]] = take()
  end
  local stored_seq, stored_names = header_of(key)
  if stored_seq and tonumber(seq) < tonumber(stored_seq) then return end
  local member = string.match(key, '[^:]+$')
  for name in string.gmatch(stored_names or '', '[^,]+') do
    if not scores[name] then redis.call('ZREM', rank .. name, member) end
  end
  for name, score in pairs(scores) do
    put_rank(name, score ~= '' and score or redis.call('ZSCORE', rank .. string.match(name, '/(.+)$'), member), member)
  end
  if owner ~= '' then rank_in_groups(owner, scores, member) end
  local header = version .. ':' .. seq .. (count == 0 and '' or ':' .. table.concat(names, ',')) .. '\n'
  if body == '' then
    redis.call('SET', key, header, 'EX', tombstone_seconds)
  else
    redis.call('SET', key, header .. body)
  end
end

-- All starts but the newest's, in order.
local function other_starts(key)
  local starts = {}
  for _, field in ipairs(redis.call('HKEYS', key)) do starts[#starts + 1] = tonumber(field) end
  table.sort(starts)
  return starts
end

local function apply_series(key)
  local oldest, count = tonumber(take()), tonumber(take())
  local about = redis.call('HGET', key, 'about')
  local done, from, newest = string.match(about or '', '^%d+:(%d+):(%d+):(%d*)$')
  done, from, newest = tonumber(done) or -1, math.max(tonumber(from) or 0, oldest or 0), tonumber(newest)
  local was_empty, last, grew, fields = newest == nil, done, false, {}
  for _ = 1, count do
    local start, seq, body = tonumber(take()), take(), take()
    local is_known = tonumber(seq) <= done
    last = math.max(last, tonumber(seq))
    if is_known or start < from then
      -- Told before, or older than what is kept.
    elseif body == '' and start == newest then
      newest = table.remove(other_starts(key))
      local before = newest and redis.call('HGET', key, newest)
      redis.call('HDEL', key, 'newest', newest or 'newest')
      if before then redis.call('HSET', key, 'newest', before) end
    elseif body == '' then
      redis.call('HDEL', key, start)
    else
      if newest and start > newest then
        redis.call('HSET', key, newest, redis.call('HGET', key, 'newest'))
        grew = true
      end
      if not newest or start >= newest then newest = start end
      redis.call('HSET', key, start == newest and 'newest' or start, version .. ':' .. seq .. '\n' .. body)
    end
  end
  if last == done then return end
  -- A quarter more than is kept, so that the starts are not sorted for each candle.
  if grew and redis.call('HLEN', key) > kept * 1.25 + 2 then
    local starts = other_starts(key)
    for i = 1, #starts + 1 - kept do redis.call('HDEL', key, starts[i]) end
    from = starts[#starts + 2 - kept] or newest
  end
  local function text(number) return string.format('%.0f', number) end
  redis.call('HSET', key, 'about', table.concat({ version, text(last), text(from), newest and text(newest) or '' }, ':'))
  if newest == nil and from == 0 then
    redis.call('EXPIRE', key, tombstone_seconds)
  elseif was_empty then
    redis.call('PERSIST', key)
  end
end

if expected then
  local head_seq = tonumber(string.match(redis.call('GETRANGE', KEYS[1], 0, HEADER_BYTES), '^%d+:(%d+)'))
  if not head_seq or head_seq < expected then return 0 end
end
for i = 2, #KEYS do
  if take() == 'series' then apply_series(KEYS[i]) else apply_document(KEYS[i]) end
end
return 1
