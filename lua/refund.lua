-- Takes the units of one call out of its logs, and nothing else: without effect once they left the window.
--
-- An exact log knows its calls. A compact one is told the moment of the call, and so in which slice its units are; a
-- marker beside it keeps a refund that comes twice from taking the units of another call.
--
-- KEYS[i]             the log of charge i of n, each log once
-- KEYS[n + i]         the marker of this call beside that log
-- ARGV[1]             now in microseconds, or '' for the server's clock
-- ARGV[2]             id of the call
-- ARGV[3]             the moment of its admission in microseconds, or '' where it is not known
-- ARGV[4i .. 4i + 3]  limit (units), window (milliseconds), cost (units) and layout of charge i, as they were charged;
--                     a warm-up is left as it is
--
-- Reply: how many units were taken out.
-- Errors: 'ERR floodgate: …' naming the argument, and those of the commands.

local admittedAt -- microseconds, or nil

local function readAdmission(position)
  if ARGV[position] == '' then return end
  admittedAt = whole(ARGV[position], 0, 2 ^ 53)
  if not admittedAt then return wrong('the moment of the admission', position, 'microseconds or empty') end
end

local fault = readNow() or readId(2) or readAdmission(3) or readCharges(#KEYS / 2, 4)
if fault then return fault end

local function takeFromCompactLog(i)
  -- What a log admitted before it was made anew, or before the clock stepped back, it does not hold by itself.
  if not admittedAt or admittedAt < slices[i].since or compact.unitsOf(i, admittedAt) == 0 then return 0 end
  local isFirst = redis.call('SET', KEYS[logs + i], '', 'NX', 'PX', expiryOf(i))
  return isFirst and compact.takeBack(i, admittedAt) or 0
end

local removed = 0
for i = 1, logs do
  -- A cost of 0 took nothing.
  if costs[i] > 0 then
    local members = membersOf(costs[i])
    local found = redis.pcall('ZREM', keys[i], unpack(members))
    if type(found) == 'number' then
      removed = removed + found
      redis.call('PEXPIRE', keys[i], expiryOf(i))
    else
      slices[i] = compactLogs().read(i, found)
      removed = removed + takeFromCompactLog(i)
    end
  end
end
return removed
