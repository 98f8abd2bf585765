-- The arguments of scripts that take one request; it is put after arguments.lua.

-- One request on so many logs, the first of KEYS: limit, window, cost and layout of each, from ARGV[first] on.
local function readCharges(count, first)
  logs = count
  if logs < 1 or #ARGV ~= first - 1 + 4 * logs then
    return redis.error_reply('ERR floodgate: each of at least one log takes a limit, a window, a cost and a layout')
  end
  for i = 1, logs do
    local position = first + 4 * (i - 1)
    local fault =
      readCharge(i, ARGV[position], ARGV[position + 1], ARGV[position + 2], ARGV[position + 3], position)
    if fault then return fault end
  end
  return findTwice()
end
