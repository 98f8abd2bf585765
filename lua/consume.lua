-- Takes all charges of one call, or none: counts the live units, decides, and only then writes.
--
-- KEYS[i]           the log of charge i, each log once
-- KEYS[#KEYS]       the epoch: since when this server keeps what it is told (in the hash slot of the logs)
-- ARGV[1]           now in microseconds, or '' for the server's clock
-- ARGV[2]           id of the call
-- ARGV[3i .. 3i+2]  limit (units), window (milliseconds) and cost (units) of charge i
--
-- Reply: { verdict, now, remaining, resetAfterMs, retryAfterMs, … three for each charge, began }
--   verdict       1 allowed: all charges are taken, or were taken by this id before; 0 denied: none is
--   now           microseconds, the moment of the decision
--   remaining     units free after the decision
--   resetAfterMs  milliseconds, rounded up, until the log is empty
--   retryAfterMs  milliseconds, rounded up, until this charge has room; 0 when it has, -1 when waiting does not help
--   began         microseconds, the epoch: now where there was none, as on a server that lost its data
-- Errors: 'ERR floodgate: …' naming the argument, and those of the commands, with nothing written.
--
-- The first write is a ZADD, which Redis refuses when it is out of memory; a trim before it would switch that check
-- off. A denied call writes an expiry, so that a read-only replica answers READONLY instead of deciding.

local MIN_TRIM = 64
local RESTAMP_AT_ONCE = 1000

local EPOCH_MS = 400 * 86400000 -- longer than the longest window
local EPOCH_RENEWED_EVERY = 4096 -- decisions, about

logs = #KEYS - 1
local fault = readNow() or readId() or readCharges(3)
if fault then return fault end

local epoch = KEYS[#KEYS]
local began = tonumber(redis.call('GET', epoch) or nil)

-- The reply with the epoch, which is kept after the first write of the call. Where the server's clock stepped back, it
-- begins anew.
local function withEpoch(result)
  if not began or began > now then
    began = now
    redis.call('SET', epoch, string.format('%.0f', now), 'PX', EPOCH_MS)
  elseif now % EPOCH_RENEWED_EVERY == 0 then
    redis.call('PEXPIRE', epoch, EPOCH_MS)
  end
  result[#result + 1] = began
  return result
end

local function expire(i)
  redis.call('PEXPIRE', KEYS[i], windows[i] / 1000 + extraExpiry)
end

local function stampOf(i, unit)
  return tonumber(redis.call('ZSCORE', KEYS[i], memberOf(unit)) or nil)
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
    added = redis.call('ZADD', KEYS[i], 'NX', now, id)
  else
    added = redis.call('ZADD', KEYS[i], 'NX', stampedMembers(cost))
  end
  if added == cost then return true end
  if holdsRemains(i) then
    redis.call('ZADD', KEYS[i], stampedMembers(cost))
    return true
  end
  -- A repetition that costs more than the call it repeats added the units that it has more.
  for unit = cost - added + 1, cost do redis.call('ZREM', KEYS[i], memberOf(unit)) end
  return false
end

-- At most a bounded number of entries that left the window: a log that expired as a whole must not stall the server.
local function trim(i)
  local stale = redis.call('ZCARD', KEYS[i]) - live[i]
  if stale > 0 then
    redis.call('ZREMRANGEBYRANK', KEYS[i], 0, math.min(stale, math.max(MIN_TRIM, 2 * costs[i])) - 1)
  end
end

-- Entries from the future tell that the server's clock stepped back. They were admitted before this moment, so this
-- moment is a stamp that is late enough, and nobody is locked out for longer than a window from here.
local function restampFuture(i)
  newest[i] = stampAt(i, -1)
  while newest[i] and newest[i] > now do
    local restamped = {}
    for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[i], now + 1, '+inf', 'LIMIT', 0, RESTAMP_AT_ONCE)) do
      restamped[#restamped + 1] = now
      restamped[#restamped + 1] = member
    end
    redis.call('ZADD', KEYS[i], 'XX', unpack(restamped))
    newest[i] = stampAt(i, -1)
  end
end

local function deny()
  for i = 1, logs do
    restampFuture(i)
    expire(i)
  end
  return withEpoch(reply(0))
end

local function repeated()
  for i = 1, logs do expire(i) end
  return withEpoch(reply(1))
end

if countLive() then
  for i = 1, logs do
    if holdsCall(i) then return repeated() end
  end
  return deny()
end

for i = 1, logs do
  if not add(i) then
    for earlier = 1, i - 1 do redis.call('ZREM', KEYS[earlier], unpack(membersOf(costs[earlier]))) end
    return repeated()
  end
end

local result = { 1, now }
for i = 1, logs do
  live[i] = live[i] + costs[i]
  trim(i)
  expire(i)
  result[#result + 1] = limits[i] - live[i]
  result[#result + 1] = windows[i] / 1000
  result[#result + 1] = 0
end
return withEpoch(result)
