-- How the logs of the request at hand are written; it is put between window.lua and the scripts that do.

local MIN_TRIM = 64
local RESTAMP_AT_ONCE = 1000

local hasWritten = false -- whether this call wrote anything so far

-- Milliseconds from now that keys[i] is needed.
local function expiryOf(i)
  local lastMs = slices[i] and math.ceil(sliceLength(i) / 1000) or 0
  return windows[i] / 1000 + lastMs + extraExpiry
end

-- Writes a compact log, with its expiry: one command for whatever changed.
local function save(i)
  local log = slices[i]
  local text = struct.pack(HEAD, log.first, log.units, log.since) .. log.counts
  redis.call('SET', keys[i], text, 'PX', expiryOf(i))
  hasWritten = true
end

-- Adds the units of this call to a compact log, which does not know calls: a repetition is charged again.
local function addToSlices(i)
  local log = slices[i]
  local current = sliceAt(i, now)
  if log.counts == '' then log.first = current end
  local last = lastSlice(log)
  if last == current then
    local count = countAt(#log.counts / 4, log.counts)
    log.counts = string.sub(log.counts, 1, -5) .. struct.pack('<I4', count + costs[i])
  else
    log.counts = log.counts .. string.rep('\0', 4 * (current - last - 1)) .. struct.pack('<I4', costs[i])
  end
  log.units = log.units + costs[i]
  save(i)
end

-- Takes back what addToSlices added in this moment.
local function takeFromLastSlice(i)
  local log = slices[i]
  local count = countAt(#log.counts / 4, log.counts)
  log.counts = string.sub(log.counts, 1, -5) .. struct.pack('<I4', count - costs[i])
  log.units = log.units - costs[i]
  dropEmptyEnd(log)
  save(i)
end

local function stampOf(i, unit)
  return tonumber(redis.call('ZSCORE', keys[i], memberOf(unit)) or nil)
end

-- Whether an exact log holds a living unit of this call: all of them were admitted at one moment.
local function holdsCall(i)
  if slices[i] then return false end
  local stamp = stampOf(i, 1)
  return stamp and stamp > now - windows[i]
end

-- Whether an exact log still holds a unit of an earlier call of this id, which left the window and waits to be trimmed.
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

-- Adds the units of this call to an exact log. False when it holds them already: the call is a repetition.
local function addEntries(i)
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

-- Takes back what was added to log i for the request at hand.
local function takeBack(i)
  if slices[i] then
    takeFromLastSlice(i)
  else
    redis.call('ZREM', keys[i], unpack(membersOf(costs[i])))
  end
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
  if slices[i] then
    if slices[i].isRestamped then save(i) end
    return
  end
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
