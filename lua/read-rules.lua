-- Reads the overrides of rules.
--
-- KEYS[1]  the document, as override-rule.lua writes it
-- ARGV[1]  the tag of the document that the caller knows, or ''
--
-- Reply: now (milliseconds), and the document; '' in its place if it is the one that the caller knows, nil if there is
-- none.

local time = redis.call('TIME')
local document = redis.call('GET', KEYS[1])
if document and ARGV[1] ~= '' and string.match(document, '^1 (%S+) ') == ARGV[1] then document = '' end
return { time[1] * 1000 + math.floor(time[2] / 1000), document }
