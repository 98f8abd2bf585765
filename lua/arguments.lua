-- What the scripts are asked. Each script is put together from several of these files, by embed.mjs.
--
-- Redis runs a script from its first line for every call, and making a function takes it about as long as a command. So
-- what few calls need stands in a function that makes it then.
--
-- Numbers that many commands need are made to text once, which takes as long as half a command. Lua's own conversion keeps
-- only 14 digits.

local MAX_LIMIT = 1000000000
local MAX_EXACT_LIMIT = 10000
local MAX_EXACT_COST = 128
local MAX_EXACT_WARM_UP_LIMIT = 128
local ROUNDING = 1e-6 -- what the computer is wrong by, in units

local now, nowText    -- microseconds
local extraExpiry     -- milliseconds that keys outlive their window

-- The request at hand:
local id              -- of the call, for the scripts that have one
local logs = 0        -- so many
local keys = KEYS     -- of the logs
local limits, windows, costs = {}, {}, {} -- of the charge on each log; windows in microseconds
local isCompact = {}  -- whether the charge asks for a compact log
local isPossible = {} -- whether some waiting makes room for the charge
local mostLive = {}   -- units in the window with which the charge has room: one of cost 0 takes nothing, but needs one
local warmUps         -- where a charge has one, by its number: limit, over (microseconds), factor and place (among the keys
                      -- of states, which come after the logs)
local hasWarmUps      -- whether any charge of any request has one
local starts = {}     -- the first microsecond of the window that ends now, as text
local expiries = {}   -- milliseconds from now that an exact log is needed, as text

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
  nowText = string.format('%.0f', now)
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

-- Limit, window in milliseconds, cost and layout of charge i, the first at this position.
local function readCharge(i, limit, windowMs, cost, layout, position)
  isCompact[i] = layout == 'compact'
  local maxLimit = isCompact[i] and MAX_LIMIT or MAX_EXACT_LIMIT
  local over, factor
  if not isCompact[i] and layout ~= 'exact' then
    layout, over, factor = string.match(layout, '^(%l+)~(%d+)~([%d.]+)$')
    over, factor = whole(over, 1, 2 ^ 43), tonumber(factor)
    isCompact[i] = layout == 'compact'
    if not isCompact[i] and layout ~= 'exact' or not over or not factor or factor <= 1 or factor > 100 then
      return wrong('layout', position + 3, 'exact or compact, with a warm-up of milliseconds and a factor: exact~30000~3')
    end
    maxLimit = isCompact[i] and MAX_LIMIT or MAX_EXACT_WARM_UP_LIMIT
  end
  limits[i] = whole(limit, 1, maxLimit)
  if not limits[i] then return wrong('limit', position, string.format('a whole number from 1 to %d', maxLimit)) end
  windows[i] = whole(windowMs, 1, 2 ^ 43)
  if not windows[i] then return wrong('window', position + 1, 'whole milliseconds, at least 1') end
  expiries[i] = string.format('%.0f', windows[i] + extraExpiry)
  windows[i] = windows[i] * 1000
  starts[i] = string.format('%.0f', now - windows[i] + 1)
  costs[i] = whole(cost, 0, 2 ^ 53)
  if not costs[i] then return wrong('cost', position + 2, 'a whole number, at least 0') end
  mostLive[i] = limits[i] - math.max(1, costs[i])
  isPossible[i] = costs[i] <= limits[i] and (isCompact[i] or costs[i] <= MAX_EXACT_COST)
  if over then
    warmUps, hasWarmUps = warmUps or { count = 0 }, true
    warmUps.count = warmUps.count + 1
    warmUps[i] = { limit = limits[i], over = over * 1000, factor = factor, place = warmUps.count }
    -- No more than a cold log admits: its limit is rounded up.
    isPossible[i] = isPossible[i] and costs[i] <= math.ceil(limits[i] / factor - ROUNDING)
  end
end
