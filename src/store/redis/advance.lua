-- Advances a chain's head, unless the previous head is gone: then the documents are lost as well.
--
-- KEYS[1]: the head's key   ARGV: seq, value, seq of the expected head ('' if unknown)
-- Returns 1, or 0 if data was lost.
local seq, value, expected = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local head = redis.call('GET', KEYS[1])
local stored = head and tonumber(string.match(head, '^%d+:(%d+)'))
if expected and (not stored or stored < expected) then return 0 end
if not stored or seq >= stored then redis.call('SET', KEYS[1], value) end
return 1
