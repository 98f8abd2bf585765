-- How the logs of the request at hand are written: it is put between window.lua and consume.lua.

local MIN_TRIM = 64
local RESTAMP_AT_ONCE = 1000

local hasWritten = false -- whether this call wrote anything so far

local function expiryOf(i)
  return windows[i] / 1000 + extraExpiry
end

local function stampOf(i, unit)
  return tonumber(redis.call('ZSCORE', keys[i], memberOf(unit)) or nil)
end

-- Whether the log holds a living unit of this call.
local function holdsCall(i)
  for unit = 1, math.min(costs[i], MAX_COST) do
    local stamp = stampOf(i, unit)
    if stamp and stamp > now - windows[i] then return true end
  end
  return false
end

-- Whether the log still holds a unit of an earlier call of this id, which left the window and waits to be trimmed.
local function holdsRemains(i)
  for unit = 1, costs[i] do
    local stamp = stampOf(i, unit)
    if stamp and stamp <= now - windows[i] then return true end
  end
  return false
end

local function stampedMembers(cost)
  local pairs_ = {}
  for unit = 1, cost do
    pairs_[2 * unit - 1] = now
    pairs_[2 * unit] = memberOf(unit)
  end
  return unpack(pairs_)
end

-- Adds the units of this call. False when the log holds them already: the call is a repetition.
local function add(i)
  local cost = costs[i]
  local added
  if cost == 1 then
    added = redis.call('ZADD', keys[i], 'NX', now, id)
  else
    added = redis.call('ZADD', keys[i], 'NX', stampedMembers(cost))
  end
  hasWritten = true
  if added == cost then return true end
  if holdsRemains(i) then
    redis.call('ZADD', keys[i], stampedMembers(cost))
    return true
  end
  -- A repetition that costs more than the call it repeats added the units that it has more.
  for unit = cost - added + 1, cost do redis.call('ZREM', keys[i], memberOf(unit)) end
  return false
end

-- At most a bounded number of entries that left the window: a log that expired as a whole must not stall the server.
local function trim(i)
  local stale = redis.call('ZCARD', keys[i]) - live[i]
  if stale > 0 then
    redis.call('ZREMRANGEBYRANK', keys[i], 0, math.min(stale, math.max(MIN_TRIM, 2 * costs[i])) - 1)
  end
end

-- Entries from the future tell that the server's clock stepped back. They were admitted before this moment, so this
-- moment is a stamp that is late enough, and nobody is locked out for longer than a window from here.
local function restampFuture(i)
  newest[i] = stampAt(i, -1)
  while newest[i] and newest[i] > now do
    local restamped = {}
    for _, member in ipairs(redis.call('ZRANGEBYSCORE', keys[i], now + 1, '+inf', 'LIMIT', 0, RESTAMP_AT_ONCE)) do
      restamped[#restamped + 1] = now
      restamped[#restamped + 1] = member
    end
    redis.call('ZADD', keys[i], 'XX', unpack(restamped))
    newest[i] = stampAt(i, -1)
  end
end
