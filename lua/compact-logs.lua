-- Compact logs; it is put after arguments.lua.
--
-- A compact log is a string: so many units were admitted in each of the hundred slices of its window, whatever the limit.
-- A unit counts as admitted at the end of its slice, never before its true moment. So no window holds more units than the
-- limit, by the argument for exact logs, and room comes back a hundredth of the window late at most.
--
--   bytes 1 to 8     the number of the first slice; slice n ends at n * window / 100
--   bytes 9 to 12    units in all slices
--   bytes 13 to 20   since when the units are this log's own: calls from before it are not in it by themselves
--   then 4 each      units of the first slice and of those after it, the last with at least one
--
-- The layout is that of the key: an exact log is folded into a compact one when its limit grows, and stays so until it
-- expires.

local SLICES = 100

local slices = {} -- of each log that is compact: first, units, since and counts (the text); it changes in memory only
local compact     -- the functions for compact logs, once there is one

-- Milliseconds from now that keys[i] is needed.
local function expiryOf(i)
  if not slices[i] then return expiries[i] end
  return windows[i] / 1000 + math.ceil(windows[i] / SLICES / 1000) + extraExpiry
end

local function compactLogs()
  if compact then return compact end

  local HEAD = '<dI4d'
  local HEAD_LENGTH = 20

  -- The number of the slice in which this moment lies: after the end of the one before, at the end of its own at most.
  local function sliceAt(i, moment)
    return math.ceil(moment / (windows[i] / SLICES))
  end

  local function endOf(i, slice)
    return slice * (windows[i] / SLICES)
  end

  local function countAt(slice, counts)
    return struct.unpack('<I4', counts, 4 * slice - 3)
  end

  local function sumOf(counts)
    local sum = 0
    for slice = 1, #counts / 4 do sum = sum + countAt(slice, counts) end
    return sum
  end

  local function lastSlice(log)
    return log.first + #log.counts / 4 - 1
  end

  -- Restores that the last slice has a unit.
  local function dropEmptyEnd(log)
    local used = #log.counts / 4
    while used > 0 and countAt(used, log.counts) == 0 do used = used - 1 end
    log.counts = string.sub(log.counts, 1, 4 * used)
  end

  -- The slices that ended a window ago have left it.
  local function dropStale(i, log)
    local stale = math.floor((now - windows[i]) / (windows[i] / SLICES)) - log.first + 1
    if stale <= 0 then return end
    log.units = log.units - sumOf(string.sub(log.counts, 1, 4 * stale))
    log.counts = string.sub(log.counts, 4 * stale + 1)
    log.first = log.first + stale
  end

  -- Slices from the future tell that the server's clock stepped back. This moment is late enough for their units. Which
  -- calls they were can no longer be told from those that are admitted when the clock comes there again.
  local function restampSlices(i, log)
    local current = sliceAt(i, now)
    if lastSlice(log) <= current then return end
    log.since = endOf(i, lastSlice(log)) + 1
    log.first = math.min(log.first, current)
    local kept = string.sub(log.counts, 1, 4 * (current - log.first))
    log.counts = kept .. struct.pack('<I4', log.units - sumOf(kept))
    log.isRestamped = true
  end

  local function readSlices(i, text)
    local log = { first = sliceAt(i, now), units = 0, since = now, counts = '' }
    if text then
      -- A string that is no log: the error of the command says so.
      if #text < HEAD_LENGTH or #text % 4 ~= 0 then redis.call('ZCARD', keys[i]) end
      log.first, log.units, log.since = struct.unpack(HEAD, text)
      log.counts = string.sub(text, HEAD_LENGTH + 1)
      dropStale(i, log)
      restampSlices(i, log)
    end
    return log
  end

  -- An exact log as a compact one.
  local function foldLog(i)
    local current = sliceAt(i, now)
    local first = math.floor((now - windows[i]) / (windows[i] / SLICES)) + 1
    local counts = {}
    local units = 0
    for slice = first, current do
      local from = math.max(endOf(i, slice - 1), now - windows[i]) + 1
      local count = redis.call('ZCOUNT', keys[i], from, slice == current and '+inf' or endOf(i, slice))
      counts[#counts + 1] = struct.pack('<I4', count)
      units = units + count
    end
    local log = { first = first, units = units, since = now, counts = table.concat(counts) }
    dropEmptyEnd(log)
    return log
  end

  -- Writes a log with its expiry: one command for whatever changed.
  local function save(i)
    local log = slices[i]
    local text = struct.pack(HEAD, log.first, log.units, log.since) .. log.counts
    redis.call('SET', keys[i], text, 'PX', expiryOf(i))
  end

  local function isOfAnotherType(reply)
    return type(reply) == 'table' and string.find(reply.err, 'WRONGTYPE', 1, true) ~= nil
  end

  compact = { save = save }

  -- Reads log i where it was not counted as an exact one: `reply` is the error of the attempt, or false without one.
  function compact.read(i, reply)
    if not reply then
      reply = redis.pcall('GET', keys[i])
      if isOfAnotherType(reply) then return foldLog(i) end
    elseif isOfAnotherType(reply) then
      reply = redis.call('GET', keys[i])
    end
    if type(reply) == 'table' then error(reply) end
    return readSlices(i, reply)
  end

  function compact.newest(i)
    return endOf(i, lastSlice(slices[i]))
  end

  -- The stamp of the unit that leaves just before only so many are left.
  function compact.stampBefore(i, left)
    local log = slices[i]
    local slice = 0
    local older = log.units - left
    while older > 0 do
      slice = slice + 1
      older = older - countAt(slice, log.counts)
    end
    return endOf(i, log.first + slice - 1)
  end

  -- Adds the units of a call, which the log does not know afterwards: a repetition is charged again.
  function compact.add(i)
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

  local function placeOf(i, moment)
    return sliceAt(i, moment) - slices[i].first + 1
  end

  -- So many of the units of a call that was admitted at this moment are in its slice, at most.
  function compact.unitsOf(i, admittedAt)
    local place, counts = placeOf(i, admittedAt), slices[i].counts
    if place < 1 or place > #counts / 4 then return 0 end
    return math.min(countAt(place, counts), costs[i])
  end

  -- Takes them back. Whether the call is in the log, and was not taken back before, is for the caller to know.
  function compact.takeBack(i, admittedAt)
    local log, slice, taken = slices[i], placeOf(i, admittedAt), compact.unitsOf(i, admittedAt)
    local count = countAt(slice, log.counts)
    log.units = log.units - taken
    log.counts = string.sub(log.counts, 1, 4 * slice - 4)
      .. struct.pack('<I4', count - taken)
      .. string.sub(log.counts, 4 * slice + 1)
    dropEmptyEnd(log)
    save(i)
    return taken
  end

  return compact
end
