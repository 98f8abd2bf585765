-- How the window of a log is read that ends now, whatever its layout; it is put after exact-logs.lua and
-- compact-logs.lua.

local warmUp      -- the functions of warm-up.lua, where a charge has one
local live = {}   -- units in the window of each log
local newest = {} -- stamp of the newest entry of each log, where it is known already

-- Reads every log. True when one of them has no room for its cost.
local function readLogs()
  local full = false
  for i = 1, logs do
    local count = not isCompact[i] and redis.pcall('ZCOUNT', keys[i], starts[i], '+inf')
    if type(count) == 'number' then
      slices[i], live[i], newest[i] = nil, count, nil
    else
      local log = compactLogs().read(i, count)
      slices[i], live[i] = log, log.units
      newest[i] = compact.newest(i)
    end
    if not isPossible[i] or live[i] > mostLive[i] then full = true end
  end
  return full
end

-- Milliseconds, rounded up, until an entry stamped `stamp` leaves the window of keys[i].
local function leavesIn(i, stamp)
  return math.ceil((stamp + windows[i] - now) / 1000)
end

-- Milliseconds, rounded up, until the log is empty.
local function emptyIn(i)
  return live[i] > 0 and leavesIn(i, newest[i] or stampAt(i, -1)) or 0
end

-- Appends for each charge remaining, resetAfterMs and retryAfterMs, as its log is at this moment: of a request that is
-- refused, or would be admitted.
local function appendReadings(result, isRefused)
  for i = 1, logs do
    local retryAfterMs = 0
    if isRefused and not isPossible[i] then
      retryAfterMs = -1
    elseif isRefused and live[i] > mostLive[i] and warmUps and warmUps[i] then
      retryAfterMs = warmUp.retryAfterMs(i)
    elseif isRefused and live[i] > mostLive[i] then
      -- Room comes when only so many units are left, so the one before those must leave.
      local left = mostLive[i]
      retryAfterMs = leavesIn(i, slices[i] and compact.stampBefore(i, left) or stampAt(i, -left - 1))
    end
    result[#result + 1] = math.max(0, limits[i] - live[i])
    result[#result + 1] = emptyIn(i)
    result[#result + 1] = retryAfterMs
  end
end
