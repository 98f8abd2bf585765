-- How the window of a log is read that ends now, whatever its layout; it is put after arguments.lua and slices.lua.
--
-- An exact log is a sorted set with one member for each unit admitted. A member is the id of its call ('id', then 'id#2',
-- 'id#3', … for a cost above 1), so that calls of one instant stay apart. Its score is the microsecond of this server's
-- clock at which it was admitted. It lives while score > now - window.

local live = {}   -- units in the window of each log
local newest = {} -- stamp of the newest entry of each log, where it is known already

local function isOfAnotherType(reply)
  return type(reply) == 'table' and string.find(reply.err, 'WRONGTYPE', 1, true) ~= nil
end

local function orRaise(reply)
  if type(reply) == 'table' and reply.err then error(reply) end
  return reply
end

-- The slices of log i when it is compact already, or has to be; nil when it is exact, and its live units.
local function readLayout(i)
  if isCompact[i] then
    local text = redis.pcall('GET', keys[i])
    if isOfAnotherType(text) then return foldLog(i) end
    return readSlices(i, orRaise(text))
  end
  local count = redis.pcall('ZCOUNT', keys[i], now - windows[i] + 1, '+inf')
  if isOfAnotherType(count) then return readSlices(i, redis.call('GET', keys[i])) end
  return nil, orRaise(count)
end

local function readLog(i)
  local count
  slices[i], count = readLayout(i)
  live[i] = count or slices[i].units
  newest[i] = slices[i] and lastSlice(slices[i]) * sliceLength(i)
end

-- Reads every log. True when one of them has no room for its cost.
local function readLogs()
  local full = false
  for i = 1, logs do
    readLog(i)
    if not isAffordable(i) or live[i] + costs[i] > limits[i] then full = true end
  end
  return full
end

-- Milliseconds, rounded up, until an entry stamped `stamp` leaves the window of keys[i].
local function leavesIn(i, stamp)
  return math.ceil((stamp + windows[i] - now) / 1000)
end

-- The stamp at this rank of an exact log: 0 is the oldest, -1 the newest; nil when there is none.
local function stampAt(i, rank)
  return tonumber(redis.call('ZRANGE', keys[i], rank, rank, 'WITHSCORES')[2])
end

-- The stamp of the unit that leaves just before only so many are left.
local function stampBefore(i, left)
  local log = slices[i]
  if not log then return stampAt(i, -left - 1) end
  local slice = 0
  local older = log.units - left
  while older > 0 do
    slice = slice + 1
    older = older - countAt(slice, log.counts)
  end
  return (log.first + slice - 1) * sliceLength(i)
end

-- Appends for each charge remaining, resetAfterMs and retryAfterMs, as its log is at this moment: of a request that is
-- refused, or would be admitted.
local function appendReadings(result, isRefused)
  for i = 1, logs do
    local limit, cost = limits[i], costs[i]
    local retryAfterMs = 0
    if isRefused and not isAffordable(i) then
      retryAfterMs = -1
    elseif isRefused and live[i] + cost > limit then
      -- Room comes when only limit - cost units are left, so the one before those must leave.
      retryAfterMs = leavesIn(i, stampBefore(i, limit - cost))
    end
    result[#result + 1] = math.max(0, limit - live[i])
    result[#result + 1] = live[i] > 0 and leavesIn(i, newest[i] or stampAt(i, -1)) or 0
    result[#result + 1] = retryAfterMs
  end
end

local function memberOf(unit)
  return unit == 1 and id or id .. '#' .. unit
end

local function membersOf(cost)
  local members = {}
  for unit = 1, math.min(cost, MAX_EXACT_COST) do members[unit] = memberOf(unit) end
  return members
end
