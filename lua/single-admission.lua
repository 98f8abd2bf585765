-- The most common call by itself, before all else of consume.lua: one request for one unit of one exact log, which has
-- room. The functions that everything else needs would take longer than its commands. Whatever is not so simple is left,
-- with nothing written, to what follows.

local isOneRequest = #KEYS == 2 and #ARGV == 5 and ARGV[2] == '1' and ARGV[5] == '1'
if isOneRequest and string.find(ARGV[4], '^[%w_-]+$') and #ARGV[4] <= 64 then
  local limit, windowMs = string.match(ARGV[3], '^(%d+) (%d+) 1 exact$')
  local isGiven = string.find(ARGV[1], '^%d+$')
  if limit and (isGiven or ARGV[1] == '') then
    local key = KEYS[1]
    local now = tonumber(ARGV[1])
    if not isGiven then
      local time = redis.call('TIME')
      now = time[1] * 1000000 + time[2]
    end
    limit, windowMs = tonumber(limit), tonumber(windowMs)
    local began = tonumber(redis.call('GET', KEYS[2]) or nil)
    local live = redis.pcall('ZCOUNT', key, string.format('%.0f', now - windowMs * 1000 + 1), '+inf')
    -- An epoch of more than a year has to be renewed.
    local isSettled = began and began <= now and now - began < 31536000000000 and now <= 2 ^ 53
    local isValid = windowMs >= 1 and windowMs <= 2 ^ 43 and limit <= 10000
    if isSettled and isValid and type(live) == 'number' and live < limit then
      local stale = redis.call('ZCARD', key) - live
      if redis.call('ZADD', key, 'NX', string.format('%.0f', now), ARGV[4]) == 1 then
        local reply = redis.pcall('PEXPIRE', key, windowMs + (isGiven and 60000 or 1000))
        if stale > 0 and type(reply) == 'number' then
          reply = redis.pcall('ZREMRANGEBYRANK', key, 0, math.min(stale, 64) - 1)
        end
        if type(reply) == 'number' then return { 1, limit - live - 1, now, began } end
        redis.call('ZREM', key, ARGV[4])
        return reply
      end
    end
  end
end
