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
-- ARGV[4i .. 4i + 3]  limit (units), window (milliseconds), cost (units) and layout of charge i, as they were charged
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

local function takeFromSlices(i)
  local log = readSlices(i, redis.call('GET', keys[i]))
  -- What a log admitted before it was made anew, or before the clock stepped back, it does not hold by itself.
  if not admittedAt or admittedAt < log.since then return 0 end
  local slice = sliceAt(i, admittedAt) - log.first + 1
  if slice < 1 or slice > #log.counts / 4 then return 0 end
  local count = countAt(slice, log.counts)
  local taken = math.min(count, costs[i])
  if taken == 0 or not redis.call('SET', KEYS[logs + i], '', 'NX', 'PX', expiryOf(i)) then return 0 end
  log.units = log.units - taken
  log.counts = string.sub(log.counts, 1, 4 * slice - 4)
    .. struct.pack('<I4', count - taken)
    .. string.sub(log.counts, 4 * slice + 1)
  dropEmptyEnd(log)
  slices[i] = log
  save(i)
  return taken
end

local removed = 0
for i = 1, logs do
  local members = membersOf(costs[i])
  local found = redis.pcall('ZREM', keys[i], unpack(members))
  if isOfAnotherType(found) then
    removed = removed + takeFromSlices(i)
  else
    removed = removed + orRaise(found)
    redis.call('PEXPIRE', keys[i], expiryOf(i))
  end
end
return removed
