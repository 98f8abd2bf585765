-- Decides many requests, one after another: of each it takes all charges or none, counting the live units, deciding, and
-- only then writing.
--
-- KEYS              the logs of the requests in their order, each log once in a request; and at the end
-- KEYS[#KEYS]       the epoch: since when this server keeps what it is told (in the hash slot of the logs)
-- ARGV[1]           now in microseconds, or '' for the server's clock
-- ARGV[2]           how many plans follow
-- ARGV[3 ..]        the plans: for each log of a request limit (units), window (milliseconds) and cost (units), all
--                   parted by blanks: '10 60000 1 100 3600000 1' is a plan of two logs
-- then, in pairs    the id of a request, and which of the plans is its own (from 1)
--
-- Reply: { … for each request, now, began }
--   of a request admitted       1, and for each log remaining
--   of one admitted before      2, and for each log remaining, resetAfterMs and 0
--   of one refused              0, and for each log remaining, resetAfterMs and retryAfterMs
--   of one that failed          the error of its command, as a string, with nothing taken; the others are decided
--   remaining     units free after the decision
--   resetAfterMs  milliseconds, rounded up, until the log is empty; the window where it is not told
--   retryAfterMs  milliseconds, rounded up, until this charge has room; 0 when it has, -1 when waiting does not help
--   now           microseconds, the moment of the decisions
--   began         microseconds, the epoch: now where there was none, as on a server that lost its data
-- Errors: 'ERR floodgate: …' naming the argument, with nothing written.
--
-- The first write is a ZADD, which Redis refuses when it is out of memory; a trim or an expiry before it would switch that
-- check off. Refused requests write an expiry, at the end, so that a read-only replica answers READONLY.

local EPOCH_MS = 400 * 86400000 -- longer than the longest window
local EPOCH_RENEWED_EVERY = 4096 -- decisions, about

local fault = readNow()
if fault then return fault end

local planCount = whole(ARGV[2], 1, #ARGV)
if not planCount then return wrong('the number of plans', 2, 'at least 1') end
local plans = {}
for p = 1, planCount do
  local position = 2 + p
  limits, windows, costs = {}, {}, {}
  local i, text = 0, ARGV[position] or ''
  for limit, windowMs, cost in string.gmatch(text, '(%S+) (%S+) (%S+)') do
    i = i + 1
    fault = readCharge(i, limit, windowMs, cost, position)
    if fault then return fault end
  end
  if i == 0 or select(2, string.gsub(text, '%S+', '')) ~= 3 * i then
    return wrong('a plan', position, 'limit, window and cost of at least one log')
  end
  plans[p] = { logs = i, limits = limits, windows = windows, costs = costs }
end

local firstRequest = 3 + planCount
local requests = {}
local keyCount = 0
for position = firstRequest, #ARGV, 2 do
  fault = readId(position)
  if fault then return fault end
  local plan = plans[tonumber(ARGV[position + 1])]
  if not plan then return wrong('the plan of a request', position + 1, 'a number of one of the plans') end
  requests[#requests + 1] = plan
  logs, keys = plan.logs, {}
  for i = 1, logs do keys[i] = KEYS[keyCount + i] end
  keyCount = keyCount + logs
  if keyCount >= #KEYS then break end
  fault = findTwice()
  if fault then return fault end
end
if #requests == 0 or keyCount ~= #KEYS - 1 then
  return redis.error_reply('ERR floodgate: the plans of the requests take ' .. keyCount .. ' logs and an epoch, got '
    .. #KEYS .. ' keys')
end

local epoch = KEYS[#KEYS]
local began = tonumber(redis.call('GET', epoch) or nil)
local result = {}
local renewals = {}   -- keys whose expiry is written at the end, and their expiries

local function append(value)
  result[#result + 1] = value
end

local function renewLater()
  for i = 1, logs do
    renewals[#renewals + 1] = keys[i]
    renewals[#renewals + 1] = expiryOf(i)
  end
end

local function deny()
  for i = 1, logs do restampFuture(i) end
  append(0)
  appendReadings(result, true)
  renewLater()
end

local function repeated()
  append(2)
  appendReadings(result, false)
  renewLater()
end

local function judge()
  if countLive() then
    for i = 1, logs do
      if holdsCall(i) then return repeated() end
    end
    return deny()
  end
  for i = 1, logs do
    if not add(i) then
      for earlier = 1, i - 1 do redis.call('ZREM', keys[earlier], unpack(membersOf(costs[earlier]))) end
      return repeated()
    end
  end
  append(1)
  for i = 1, logs do
    live[i] = live[i] + costs[i]
    trim(i)
    redis.call('PEXPIRE', keys[i], expiryOf(i))
    append(limits[i] - live[i])
  end
end

keyCount = 0
for r = 1, #requests do
  local plan = requests[r]
  id = ARGV[firstRequest + 2 * (r - 1)]
  logs, limits, windows, costs = plan.logs, plan.limits, plan.windows, plan.costs
  keys, newest = {}, {}
  for i = 1, logs do keys[i] = KEYS[keyCount + i] end
  keyCount = keyCount + logs
  local length = #result
  local isJudged, failure = pcall(judge)
  if not isJudged then
    for n = length + 1, #result do result[n] = nil end
    append(type(failure) == 'table' and failure.err or tostring(failure))
  end
end

for n = 1, #renewals, 2 do
  redis.call('PEXPIRE', renewals[n], renewals[n + 1])
  hasWritten = true
end
-- After the first write; where the server's clock stepped back behind it, the epoch begins anew.
if not began or began > now then
  began = now
  if hasWritten then redis.call('SET', epoch, string.format('%.0f', now), 'PX', EPOCH_MS) end
elseif now % EPOCH_RENEWED_EVERY == 0 and hasWritten then
  redis.call('PEXPIRE', epoch, EPOCH_MS)
end
append(now)
append(began)
return result
