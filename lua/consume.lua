-- Decides many requests, one after another: of each it takes all charges or none, counting the live units, deciding, and
-- only then writing.
--
-- KEYS              the logs of the requests in their order, each log once in a request; and at the end
-- KEYS[#KEYS]       the epoch: since when this server keeps what it is told (in the hash slot of the logs)
-- ARGV[1]           now in microseconds, or '' for the server's clock
-- ARGV[2]           how many plans follow
-- ARGV[3 ..]        the plans: for each log of a request limit (units), window (milliseconds), cost (units) and layout
--                   ('exact' or 'compact'), all parted by blanks: '10 60000 1 exact 5000 3600000 1 compact'
-- then, in pairs    the id of a request, and which of the plans is its own (from 1)
--
-- Reply: { … for each request, now, began }
--   of a request admitted       1, and for each log remaining
--   of one admitted before      2, and for each log remaining, resetAfterMs and 0
--   of one refused              0, and for each log remaining, resetAfterMs and retryAfterMs
--   of one that failed          the error of its command, as a string; what it took is taken back, and the others are
--                               decided
--   remaining     units free after the decision
--   resetAfterMs  milliseconds, rounded up, until the log is empty; the window where it is not told
--   retryAfterMs  milliseconds, rounded up, until this charge has room; 0 when it has, -1 when waiting does not help
--   now           microseconds, the moment of the decisions
--   began         microseconds, the epoch: now where there was none, as on a server that lost its data
-- Errors: 'ERR floodgate: …' naming the argument, with nothing written; READONLY on a replica.
--
-- The first write is a ZADD or a SET, which Redis refuses when it is out of memory; a trim or an expiry before it would switch that
-- check off. Refused requests write an expiry, at the end, so that a read-only replica answers READONLY.

local YEAR_MS = 400 * 86400000 -- longer than the longest window

local fault = readNow()
if fault then return fault end

local planCount = whole(ARGV[2], 1, #ARGV)
if not planCount then return wrong('the number of plans', 2, 'at least 1') end
local plans = {}
for p = 1, planCount do
  local position = 2 + p
  limits, windows, costs, isCompact = {}, {}, {}, {}
  local i, text = 0, ARGV[position] or ''
  for limit, windowMs, cost, layout in string.gmatch(text, '(%S+) (%S+) (%S+) (%S+)') do
    i = i + 1
    fault = readCharge(i, limit, windowMs, cost, layout, position)
    if fault then return fault end
  end
  if i == 0 or select(2, string.gsub(text, '%S+', '')) ~= 4 * i then
    return wrong('a plan', position, 'limit, window, cost and layout of at least one log')
  end
  plans[p] = { logs = i, limits = limits, windows = windows, costs = costs, isCompact = isCompact }
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
local taken = {}      -- the logs that the request at hand was added to
local hasAdmitted = false
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

local function textOf(failure)
  return type(failure) == 'table' and failure.err or tostring(failure)
end

local function deny()
  for i = 1, logs do
    local isDone, failure = pcall(restampFuture, i)
    -- Where the server is out of memory, it can wait.
    if not isDone and not string.find(textOf(failure), 'OOM', 1, true) then error(failure) end
  end
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
  if readLogs() then
    for i = 1, logs do
      if holdsCall(i) then return repeated() end
    end
    return deny()
  end
  -- Compact logs come last: they do not know a repetition.
  for i = 1, logs do
    if not slices[i] then
      if not addEntries(i) then
        for n = 1, #taken do takeBack(taken[n]) end
        return repeated()
      end
      taken[#taken + 1] = i
    end
  end
  for i = 1, logs do
    if slices[i] then
      addToSlices(i)
      taken[#taken + 1] = i
    end
  end
  append(1)
  for i = 1, logs do
    live[i] = live[i] + costs[i]
    if not slices[i] then
      trim(i)
      redis.call('PEXPIRE', keys[i], expiryOf(i))
    end
    append(limits[i] - live[i])
  end
  hasAdmitted = true
end

keyCount = 0
for r = 1, #requests do
  local plan = requests[r]
  id = ARGV[firstRequest + 2 * (r - 1)]
  logs, limits, windows, costs, isCompact = plan.logs, plan.limits, plan.windows, plan.costs, plan.isCompact
  keys, newest, taken = {}, {}, {}
  for i = 1, logs do keys[i] = KEYS[keyCount + i] end
  keyCount = keyCount + logs
  local length = #result
  local isJudged, failure = pcall(judge)
  if not isJudged then
    local text = textOf(failure)
    -- As an error of the call, it tells the client to look for the primary. A replica has written nothing.
    if string.find(text, 'READONLY', 1, true) then return redis.error_reply(text) end
    for n = 1, #taken do pcall(takeBack, taken[n]) end
    for n = length + 1, #result do result[n] = nil end
    append(text)
  end
end

local function settle()
  for n = 1, #renewals, 2 do
    redis.call('PEXPIRE', renewals[n], renewals[n + 1])
    hasWritten = true
  end
  if not hasWritten then return end
  -- After the first write; where the server's clock stepped back behind it, the epoch begins anew.
  if not began or began > now then
    redis.call('SET', epoch, string.format('%.0f', now), 'PX', 2 * YEAR_MS)
  elseif now - began > 1000 * YEAR_MS then
    redis.call('PEXPIRE', epoch, YEAR_MS)
  end
end

-- What was admitted stays so, whatever else cannot be written.
if hasAdmitted then pcall(settle) else settle() end
if not began or began > now then began = now end
append(now)
append(began)
return result
