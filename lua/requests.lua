-- The requests of a call of consume.lua, as its head describes them; it is put before the rest of it.

local fault = readNow()
if fault then return fault end

local planCount = whole(ARGV[2], 1, #ARGV)
if not planCount then return wrong('the number of plans', 2, 'at least 1') end
local plans = {}
for p = 1, planCount do
  local position = 2 + p
  limits, windows, costs, isCompact, isPossible, mostLive, starts, expiries = {}, {}, {}, {}, {}, {}, {}, {}
  warmUps = nil
  local i, text = 0, ARGV[position] or ''
  for limit, windowMs, cost, layout in string.gmatch(text, '(%S+) (%S+) (%S+) (%S+)') do
    i = i + 1
    fault = readCharge(i, limit, windowMs, cost, layout, position)
    if fault then return fault end
  end
  if i == 0 or select(2, string.gsub(text, '%S+', '')) ~= 4 * i then
    return wrong('a plan', position, 'limit, window, cost and layout of at least one log')
  end
  plans[p] = {
    logs = i,
    keys = i + (warmUps and warmUps.count or 0),
    limits = limits,
    windows = windows,
    costs = costs,
    isCompact = isCompact,
    isPossible = isPossible,
    mostLive = mostLive,
    starts = starts,
    expiries = expiries,
    warmUps = warmUps,
  }
end

local firstRequest = 3 + planCount
local requests = {}
local requestCount = 0
local keyCount = 0
keys = {}
for position = firstRequest, #ARGV, 2 do
  fault = readId(position)
  if fault then return fault end
  local plan = plans[tonumber(ARGV[position + 1])]
  if not plan then return wrong('the plan of a request', position + 1, 'a number of one of the plans') end
  requestCount = requestCount + 1
  requests[requestCount] = plan
  logs = plan.logs
  if logs > 1 then
    for i = 1, logs do keys[i] = KEYS[keyCount + i] end
    if keyCount + logs < #KEYS then fault = findTwice() end
    if fault then return fault end
  end
  keyCount = keyCount + plan.keys
  if keyCount >= #KEYS then break end
end
if requestCount == 0 or keyCount ~= #KEYS - 1 then
  return redis.error_reply('ERR floodgate: the plans of the requests take ' .. keyCount .. ' logs and an epoch, got '
    .. #KEYS .. ' keys')
end
