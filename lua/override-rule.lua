-- Keeps a change of one rule beside those of the others, and tells everybody who listens.
--
-- The document is '1 <tag> <changes>'. The 1 is that of this layout. The tag is '<version>.<id of the call>': versions
-- count, and the id keeps apart two changes of one version, one of which was lost with a server. The changes are JSON:
-- by the name of each rule a list of { version, moment (milliseconds), values }, the latest first; the values are JSON of
-- their own, or '' where the rule is that of the code again. It never expires, and is told on the channel of its name.
--
-- KEYS[1]  the document
-- ARGV[1]  name of the rule
-- ARGV[2]  values, or ''
-- ARGV[3]  id of the call
-- ARGV[4]  how many changes of one rule are kept
--
-- Reply: now (milliseconds), and the new document.
-- Errors: 'ERR floodgate: …' if the document is of another layout, which is left as it is, and those of the commands.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local version, changes = 0, {}
local document = redis.call('GET', KEYS[1])
if document then
  local number, text = string.match(document, '^1 (%d+)%.%S+ (.*)$')
  local isRead, found = pcall(cjson.decode, text)
  if not isRead or type(found) ~= 'table' then
    return redis.error_reply('ERR floodgate: ' .. KEYS[1] .. ' holds no overrides as this version writes them')
  end
  version, changes = tonumber(number), found
end
version = version + 1
local ofRule = changes[ARGV[1]] or {}
table.insert(ofRule, 1, { version, now, ARGV[2] })
while #ofRule > tonumber(ARGV[4]) do table.remove(ofRule) end
changes[ARGV[1]] = ofRule
document = string.format('1 %.0f.%s %s', version, ARGV[3], cjson.encode(changes))
redis.call('SET', KEYS[1], document)
-- Who may not publish is found out by those who ask.
redis.pcall('PUBLISH', KEYS[1], ARGV[3])
return { now, document }
