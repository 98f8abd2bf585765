-- Exact logs; it is put after arguments.lua.
--
-- An exact log is a sorted set with one member for each unit admitted. A member is the id of its call ('id', then 'id#2',
-- 'id#3', … for a cost above 1), so that calls of one instant stay apart. Its score is the microsecond of this server's
-- clock at which it was admitted. It lives while score > now - window.

-- The stamp at this rank: 0 is the oldest, -1 the newest; nil when there is none.
local function stampAt(i, rank)
  return tonumber(redis.call('ZRANGE', keys[i], rank, rank, 'WITHSCORES')[2])
end

local function memberOf(unit)
  return unit == 1 and id or id .. '#' .. unit
end

local function membersOf(cost)
  local members = {}
  for unit = 1, math.min(cost, MAX_EXACT_COST) do members[unit] = memberOf(unit) end
  return members
end
