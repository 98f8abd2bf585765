// Made from lua/*.lua by lua/embed.mjs: change those.

const WINDOW = `-- What the scripts share; it is put before each of them when they are loaded.
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
local id              -- of the call, for the scripts that have one
local limits, windows, costs = {}, {}, {} -- of the charge on KEYS[i]; windows in microseconds
local live = {}       -- units in the window of KEYS[i] that ends now

local function wrong(name, position, rule)
  return redis.error_reply('ERR floodgate: ' .. name .. ' (ARGV[' .. position .. ']) must be ' .. rule
    .. ', got "' .. tostring(ARGV[position]) .. '"')
end

local function whole(position, least, most)
  local value = tonumber(ARGV[position])
  if value and value >= least and value <= most and value == math.floor(value) then return value end
end

-- ARGV[1]: microseconds, or '' for the server's clock. Keys then live a minute longer, since expiry is judged by the
-- real clock all the same.
local function readNow()
  if ARGV[1] == '' then
    local time = redis.call('TIME')
    now, extraExpiry = time[1] * 1000000 + time[2], 1000
  else
    now, extraExpiry = whole(1, 0, 2 ^ 53), 60000
    if not now then return wrong('now', 1, 'microseconds or empty') end
  end
end

local function readId()
  id = ARGV[2]
  if not id or #id > 64 or not string.find(id, '^[%w_-]+$') then
    return wrong('id', 2, '1 to 64 letters, digits, - or _')
  end
end

-- limit, window in milliseconds and cost of each key, from ARGV[first] on.
local function readCharges(first)
  if #KEYS == 0 or #ARGV ~= first - 1 + 3 * #KEYS then
    return redis.error_reply('ERR floodgate: each of at least one key takes a limit, a window and a cost')
  end
  local seen = {}
  for i = 1, #KEYS do
    if seen[KEYS[i]] then return redis.error_reply('ERR floodgate: a key stands in KEYS twice') end
    seen[KEYS[i]] = true
    local position = first + 3 * (i - 1)
    limits[i] = whole(position, 1, MAX_LIMIT)
    if not limits[i] then return wrong('limit', position, 'a whole number from 1 to ' .. MAX_LIMIT) end
    local windowMs = whole(position + 1, 1, 2 ^ 43)
    if not windowMs then return wrong('window', position + 1, 'whole milliseconds, at least 1') end
    windows[i] = windowMs * 1000
    costs[i] = whole(position + 2, 1, 2 ^ 53)
    if not costs[i] then return wrong('cost', position + 2, 'a whole number, at least 1') end
  end
end

-- Whether some waiting makes room for charge i.
local function isAffordable(i)
  return costs[i] <= limits[i] and costs[i] <= MAX_COST
end

-- Counts the live units of every log. True when one of them has no room for its cost.
local function countLive()
  local full = false
  for i = 1, #KEYS do
    live[i] = redis.call('ZCOUNT', KEYS[i], now - windows[i] + 1, '+inf')
    if not isAffordable(i) or live[i] + costs[i] > limits[i] then full = true end
  end
  return full
end

-- Milliseconds, rounded up, until an entry stamped \`stamp\` leaves the window of KEYS[i].
local function leavesIn(i, stamp)
  return math.ceil((stamp + windows[i] - now) / 1000)
end

-- The stamp at this rank: 0 is the oldest, -1 the newest; nil when there is none.
local function stampAt(i, rank)
  return tonumber(redis.call('ZRANGE', KEYS[i], rank, rank, 'WITHSCORES')[2])
end

-- The reply: verdict, now, and for each charge remaining, resetAfterMs, retryAfterMs, as its log is at this moment.
local function reply(verdict)
  local result = { verdict, now }
  for i = 1, #KEYS do
    local limit, cost = limits[i], costs[i]
    local retryAfterMs = 0
    if verdict == 0 and not isAffordable(i) then
      retryAfterMs = -1
    elseif verdict == 0 and live[i] + cost > limit then
      -- Room comes when only limit - cost entries are left, so the entry before those must leave.
      retryAfterMs = leavesIn(i, stampAt(i, cost - limit - 1))
    end
    result[#result + 1] = math.max(0, limit - live[i])
    result[#result + 1] = live[i] > 0 and leavesIn(i, stampAt(i, -1)) or 0
    result[#result + 1] = retryAfterMs
  end
  return result
end

local function memberOf(unit)
  return unit == 1 and id or id .. '#' .. unit
end

local function membersOf(cost)
  local members = {}
  for unit = 1, math.min(cost, MAX_COST) do members[unit] = memberOf(unit) end
  return members
end

`;

/** The scripts, each with what they share before it. */
export const LUA_SOURCES = {
  consume: WINDOW + `-- Takes all charges of one call, or none: counts the live units, decides, and only then writes.
--
-- KEYS[i]           the log of charge i, each log once
-- ARGV[1]           now in microseconds, or '' for the server's clock
-- ARGV[2]           id of the call
-- ARGV[3i .. 3i+2]  limit (units), window (milliseconds) and cost (units) of charge i
--
-- Reply: { verdict, now, remaining, resetAfterMs, retryAfterMs, … three for each charge }
--   verdict       1 allowed: all charges are taken, or were taken by this id before; 0 denied: none is
--   now           microseconds, the moment of the decision
--   remaining     units free after the decision
--   resetAfterMs  milliseconds, rounded up, until the log is empty
--   retryAfterMs  milliseconds, rounded up, until this charge has room; 0 when it has, -1 when waiting does not help
-- Errors: 'ERR floodgate: …' naming the argument, and those of the commands, with nothing written.
--
-- The first write is a ZADD, which Redis refuses when it is out of memory; a trim before it would switch that check
-- off. A denied call writes an expiry, so that a read-only replica answers READONLY instead of deciding.

local MIN_TRIM = 64
local RESTAMP_AT_ONCE = 1000

local fault = readNow() or readId() or readCharges(3)
if fault then return fault end

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
  local newest = stampAt(i, -1)
  if not newest or newest <= now then return end
  local restamped = {}
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[i], now + 1, '+inf', 'LIMIT', 0, RESTAMP_AT_ONCE)) do
    restamped[#restamped + 1] = now
    restamped[#restamped + 1] = member
  end
  redis.call('ZADD', KEYS[i], 'XX', unpack(restamped))
  restampFuture(i)
end

local function deny()
  for i = 1, #KEYS do
    restampFuture(i)
    expire(i)
  end
  return reply(0)
end

local function repeated()
  for i = 1, #KEYS do expire(i) end
  return reply(1)
end

if countLive() then
  for i = 1, #KEYS do
    if holdsCall(i) then return repeated() end
  end
  return deny()
end

for i = 1, #KEYS do
  if not add(i) then
    for earlier = 1, i - 1 do redis.call('ZREM', KEYS[earlier], unpack(membersOf(costs[earlier]))) end
    return repeated()
  end
end

local result = { 1, now }
for i = 1, #KEYS do
  live[i] = live[i] + costs[i]
  trim(i)
  expire(i)
  result[#result + 1] = limits[i] - live[i]
  result[#result + 1] = windows[i] / 1000
  result[#result + 1] = 0
end
return result
`,
  peek: WINDOW + `-- What consume.lua would answer a new call now. Writes nothing.
--
-- KEYS[i]              the log of charge i, each log once
-- ARGV[1]              now in microseconds, or '' for the server's clock
-- ARGV[3i-1 .. 3i+1]   limit (units), window (milliseconds) and cost (units) of charge i
--
-- Reply and errors: as of consume.lua; remaining is what is free before the call.

local fault = readNow() or readCharges(2)
if fault then return fault end
return reply(countLive() and 0 or 1)
`,
  refund: WINDOW + `-- Takes the entries of one call out of its logs, and nothing else: without effect once they expired.
--
-- KEYS[i]           the log of charge i, each log once
-- ARGV[1]           now in microseconds, or '' for the server's clock
-- ARGV[2]           id of the call
-- ARGV[3i .. 3i+2]  limit (units), window (milliseconds) and cost (units) of charge i, as they were charged
--
-- Reply: how many units were taken out.
-- Errors: 'ERR floodgate: …' naming the argument, and those of the commands.

local fault = readNow() or readId() or readCharges(3)
if fault then return fault end

local removed = 0
for i = 1, #KEYS do
  removed = removed + redis.call('ZREM', KEYS[i], unpack(membersOf(costs[i])))
  redis.call('PEXPIRE', KEYS[i], windows[i] / 1000 + extraExpiry)
end
return removed
`,
} as const;
