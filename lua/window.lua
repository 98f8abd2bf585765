-- What the scripts share; it is put before each of them when they are loaded.
--
-- A log is a sorted set with one member for each unit admitted. A member is the id of its call ('id', then 'id#2',
-- 'id#3', … for a cost above 1), so that calls of one instant stay apart. Its score is the microsecond of this
-- server's clock at which it was admitted. It lives while score > now - window.
--
-- Numbers reach commands as numbers: Lua's own conversion to text keeps only 14 digits.

local MAX_LIMIT = 10000
local MAX_COST = 100

local now             -- microseconds
local extraExpiry     -- milliseconds that keys outlive their window

-- The request at hand:
local id              -- of the call, for the scripts that have one
local logs = 0        -- so many
local keys = KEYS     -- of the logs
local limits, windows, costs = {}, {}, {} -- of the charge on each log; windows in microseconds
local live = {}       -- units in the window of each log that ends now
local newest = {}     -- stamp of the newest entry of each log, where it is known already

local function wrong(name, position, rule)
  return redis.error_reply('ERR floodgate: ' .. name .. ' (ARGV[' .. position .. ']) must be ' .. rule
    .. ', got "' .. tostring(ARGV[position]) .. '"')
end

local function whole(text, least, most)
  local value = tonumber(text)
  if value and value >= least and value <= most and value == math.floor(value) then return value end
end

-- ARGV[1]: microseconds, or '' for the server's clock. Keys then live a minute longer, since expiry is judged by the
-- real clock all the same.
local function readNow()
  if ARGV[1] == '' then
    local time = redis.call('TIME')
    now, extraExpiry = time[1] * 1000000 + time[2], 1000
  else
    now, extraExpiry = whole(ARGV[1], 0, 2 ^ 53), 60000
    if not now then return wrong('now', 1, 'microseconds or empty') end
  end
end

local function readId(position)
  id = ARGV[position]
  if not id or #id > 64 or not string.find(id, '^[%w_-]+$') then
    return wrong('id', position, '1 to 64 letters, digits, - or _')
  end
end

-- A key that stands twice among the logs of one request would be charged twice.
local function findTwice()
  for i = 2, logs do
    for earlier = 1, i - 1 do
      if keys[i] == keys[earlier] then return redis.error_reply('ERR floodgate: a key stands in KEYS twice') end
    end
  end
end

-- Limit, window in milliseconds and cost of charge i, the first at this position.
local function readCharge(i, limit, windowMs, cost, position)
  limits[i] = whole(limit, 1, MAX_LIMIT)
  if not limits[i] then return wrong('limit', position, 'a whole number from 1 to ' .. MAX_LIMIT) end
  windows[i] = whole(windowMs, 1, 2 ^ 43)
  if not windows[i] then return wrong('window', position + 1, 'whole milliseconds, at least 1') end
  windows[i] = windows[i] * 1000
  costs[i] = whole(cost, 1, 2 ^ 53)
  if not costs[i] then return wrong('cost', position + 2, 'a whole number, at least 1') end
end

-- One request on all KEYS: limit, window and cost of each, from ARGV[first] on.
local function readCharges(first)
  logs = #KEYS
  if logs < 1 or #ARGV ~= first - 1 + 3 * logs then
    return redis.error_reply('ERR floodgate: each of at least one log takes a limit, a window and a cost')
  end
  for i = 1, logs do
    local position = first + 3 * (i - 1)
    local fault = readCharge(i, ARGV[position], ARGV[position + 1], ARGV[position + 2], position)
    if fault then return fault end
  end
  return findTwice()
end

-- Whether some waiting makes room for charge i.
local function isAffordable(i)
  return costs[i] <= limits[i] and costs[i] <= MAX_COST
end

-- Counts the live units of every log. True when one of them has no room for its cost.
local function countLive()
  local full = false
  for i = 1, logs do
    live[i] = redis.call('ZCOUNT', keys[i], now - windows[i] + 1, '+inf')
    if not isAffordable(i) or live[i] + costs[i] > limits[i] then full = true end
  end
  return full
end

-- Milliseconds, rounded up, until an entry stamped `stamp` leaves the window of keys[i].
local function leavesIn(i, stamp)
  return math.ceil((stamp + windows[i] - now) / 1000)
end

-- The stamp at this rank: 0 is the oldest, -1 the newest; nil when there is none.
local function stampAt(i, rank)
  return tonumber(redis.call('ZRANGE', keys[i], rank, rank, 'WITHSCORES')[2])
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
      -- Room comes when only limit - cost entries are left, so the entry before those must leave.
      retryAfterMs = leavesIn(i, stampAt(i, cost - limit - 1))
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
  for unit = 1, math.min(cost, MAX_COST) do members[unit] = memberOf(unit) end
  return members
end
