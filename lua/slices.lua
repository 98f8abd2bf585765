-- How compact logs are read; it is put after arguments.lua.
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
local HEAD = '<dI4d'
local HEAD_LENGTH = 20

local slices = {} -- of each log that is compact: first, units, since and counts (the text); it changes in memory only

local function sliceLength(i)
  return windows[i] / SLICES
end

-- The number of the slice in which this moment lies: after the end of the one before, at the end of its own at most.
local function sliceAt(i, moment)
  return math.ceil(moment / sliceLength(i))
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
  local stale = math.floor((now - windows[i]) / sliceLength(i)) - log.first + 1
  if stale <= 0 then return end
  log.units = log.units - sumOf(string.sub(log.counts, 1, 4 * stale))
  log.counts = string.sub(log.counts, 4 * stale + 1)
  log.first = log.first + stale
end

-- Slices from the future tell that the server's clock stepped back. This moment is late enough for their units. Which
-- calls they were can no longer be told from those that are admitted when the clock comes there again.
local function restampSlices(i, log)
  local current = sliceAt(i, now)
  local future = lastSlice(log) - current
  if future <= 0 then return end
  log.since = lastSlice(log) * sliceLength(i) + 1
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
  local length, current = sliceLength(i), sliceAt(i, now)
  local counts = {}
  local first = math.floor((now - windows[i]) / length) + 1
  local units = 0
  for slice = first, current do
    local from = math.max((slice - 1) * length, now - windows[i]) + 1
    local count = redis.call('ZCOUNT', keys[i], from, slice == current and '+inf' or slice * length)
    counts[#counts + 1] = struct.pack('<I4', count)
    units = units + count
  end
  local log = { first = first, units = units, since = now, counts = table.concat(counts) }
  dropEmptyEnd(log)
  return log
end
