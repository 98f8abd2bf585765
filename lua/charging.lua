-- How one request of consume.lua changes its logs and is answered; it is put before the rest of it.

local MIN_TRIM = 64

local epoch = KEYS[#KEYS]
local began = tonumber(redis.call('GET', epoch) or nil)
local result = {}
local taken = {}      -- the logs that the request at hand was added to: the first takenCount
local takenCount = 0
local hasAdmitted = false
local refusals        -- the functions for requests that are not simply admitted, once there is one
local renewals = {}   -- keys whose expiry is written at the end, and their expiries

local function textOf(failure)
  return type(failure) == 'table' and failure.err or tostring(failure)
end

local function takeBack(i)
  if slices[i] then
    compact.takeBack(i, now)
  else
    redis.call('ZREM', keys[i], unpack(membersOf(costs[i])))
  end
end

local function takeAllBack()
  for n = 1, takenCount do takeBack(taken[n]) end
end

local function refusing()
  if refusals then return refusals end

  local RESTAMP_AT_ONCE = 1000

  local function renewLater()
    for i = 1, logs do
      renewals[#renewals + 1] = keys[i]
      renewals[#renewals + 1] = expiryOf(i)
    end
  end

  -- Whether an exact log holds a living unit of this call: all of them were admitted at one moment.
  local function holdsCall(i)
    if slices[i] then return false end
    local stamp = tonumber(redis.call('ZSCORE', keys[i], id) or nil)
    return stamp and stamp > now - windows[i]
  end

  -- Entries from the future tell that the server's clock stepped back. They were admitted before this moment, so this
  -- moment is a stamp that is late enough, and nobody is locked out for longer than a window from here.
  local function restampFuture(i)
    if warmUps and warmUps[i] then warmUp.saveMoved(i) end
    if slices[i] then
      if slices[i].isRestamped then compact.save(i) end
      return
    end
    newest[i] = stampAt(i, -1)
    while newest[i] and newest[i] > now do
      local restamped = {}
      for _, member in ipairs(redis.call('ZRANGEBYSCORE', keys[i], now + 1, '+inf', 'LIMIT', 0, RESTAMP_AT_ONCE)) do
        restamped[#restamped + 1] = nowText
        restamped[#restamped + 1] = member
      end
      redis.call('ZADD', keys[i], 'XX', unpack(restamped))
      newest[i] = stampAt(i, -1)
    end
  end

  local function repeated()
    result[#result + 1] = 2
    appendReadings(result, false)
    renewLater()
  end

  local function deny()
    for i = 1, logs do
      if holdsCall(i) then return repeated() end
    end
    for i = 1, logs do
      local isDone, failure = pcall(restampFuture, i)
      -- Where the server is out of memory, it can wait.
      if not isDone and not string.find(textOf(failure), 'OOM', 1, true) then error(failure) end
    end
    result[#result + 1] = 0
    appendReadings(result, true)
    renewLater()
  end

  refusals = { repeated = repeated, deny = deny, renewLater = renewLater }
  return refusals
end

-- Whether an exact log still holds a unit of an earlier call of this id, which left the window and waits to be trimmed.
local function holdsRemains(i)
  for unit = 1, costs[i] do
    local stamp = tonumber(redis.call('ZSCORE', keys[i], memberOf(unit)) or nil)
    if stamp and stamp <= now - windows[i] then return true end
  end
  return false
end

-- Adds the units of this call to an exact log. False when it holds them already: the call is a repetition.
local function addEntries(i)
  local cost = costs[i]
  local stamped, added
  if cost == 1 then
    added = redis.call('ZADD', keys[i], 'NX', nowText, id)
  else
    stamped = {}
    for unit = 1, cost do
      stamped[2 * unit - 1] = nowText
      stamped[2 * unit] = memberOf(unit)
    end
    added = redis.call('ZADD', keys[i], 'NX', unpack(stamped))
  end
  if added == cost then return true end
  if holdsRemains(i) then
    redis.call('ZADD', keys[i], unpack(stamped or { nowText, id }))
    return true
  end
  -- A repetition that costs more than the call it repeats added the units that it has more.
  for unit = cost - added + 1, cost do redis.call('ZREM', keys[i], memberOf(unit)) end
  return false
end
