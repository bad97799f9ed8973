-- Applies document writes and removals, each only if it is not older than what is stored.
--
-- KEYS[i]: the document's key
-- ARGV[1]: record version   ARGV[2]: seconds that a tombstone lives   ARGV[3]: key of a rank, without its token
-- then for each key six values: kind, seq, note, extra, score, body
--   kind   'document', 'pair' or 'candle'
--   note   kept in the stored header: of a pair its two tokens, of a candle its start
--   extra  of a candle: the starts that were removed, each between commas
--   score  of a pair: its place in the ranks of its tokens
--   body   empty for a removal
--
-- A stored value is '<version>:<seq>' or '<version>:<seq>:<note>', a line end, the body; a tombstone has no body.
local version, tombstone_seconds, rank = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local HEADER_BYTES = 256

local function read_stored(key)
  -- The header and at least one byte of the body: enough to tell a tombstone.
  local head = redis.call('GETRANGE', key, 0, HEADER_BYTES)
  if head == '' then return nil end
  local line_end = string.find(head, '\n', 1, true)
  local seq, note = string.match(string.sub(head, 1, line_end - 1), '^%d+:(%d+):?(.*)$')
  return { seq = tonumber(seq), note = note, is_tombstone = #head == line_end }
end

local function unrank(pair, tokens)
  for token in string.gmatch(tokens, '[^,]+') do redis.call('ZREM', rank .. token, pair) end
end

local function is_removed(start, removed)
  return string.find(removed, ',' .. start .. ',', 1, true) ~= nil
end

-- Only the newest candle is kept: an older one replaces it only if the newest was removed.
local function keeps_stored_candle(stored, note, extra, is_removal)
  if stored == nil or stored.is_tombstone or is_removed(stored.note, extra) then return false end
  return is_removal or tonumber(note) < tonumber(stored.note)
end

local applied = 0
for i, key in ipairs(KEYS) do
  local at = 4 + (i - 1) * 6
  local kind, seq, note, extra, score, body =
    ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4], ARGV[at + 5]
  local stored = read_stored(key)
  local is_removal = body == ''
  local is_older = stored ~= nil and tonumber(seq) < stored.seq
  if not is_older and not (kind == 'candle' and keeps_stored_candle(stored, note, extra, is_removal)) then
    local header = version .. ':' .. seq .. (note == '' and '' or ':' .. note) .. '\n'
    if kind == 'pair' then
      local pair = string.match(key, '[^:]+$')
      if stored ~= nil and stored.note ~= note then unrank(pair, stored.note) end
      for token in string.gmatch(note, '[^,]+') do redis.call('ZADD', rank .. token, score, pair) end
    end
    if is_removal then
      redis.call('SET', key, header, 'EX', tombstone_seconds)
    else
      redis.call('SET', key, header .. body)
    end
    applied = applied + 1
  end
end
return applied
