-- Takes the entries of one call out of its logs, and nothing else: without effect once they expired.
--
-- KEYS[i]           the log of charge i, each log once
-- ARGV[1]           now in microseconds, or '' for the server's clock
-- ARGV[2]           id of the call
-- ARGV[3i .. 3i+2]  limit (units), window (milliseconds) and cost (units) of charge i, as they were charged
--
-- Reply: how many units were taken out.
-- Errors: 'ERR floodgate: …' naming the argument, and those of the commands.

local fault = readNow() or readId(2) or readCharges(3)
if fault then return fault end

local removed = 0
for i = 1, #KEYS do
  removed = removed + redis.call('ZREM', keys[i], unpack(membersOf(costs[i])))
  redis.call('PEXPIRE', keys[i], windows[i] / 1000 + extraExpiry)
end
return removed
