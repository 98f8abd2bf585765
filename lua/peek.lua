-- What consume.lua would answer a new call now. Writes nothing.
--
-- KEYS[i]              the log of charge i of n, each log once; and then the states of those with a warm-up
-- ARGV[1]              now in microseconds, or '' for the server's clock
-- ARGV[4i-2 .. 4i+1]   limit (units), window (milliseconds), cost (units) and layout of charge i, as of consume.lua
--
-- Reply: { verdict, remaining, resetAfterMs, retryAfterMs, … three for each charge }, as of consume.lua; remaining is
-- what is free before the call.
-- Errors: as of consume.lua.

local count = (#ARGV - 1) / 4
local fault = readNow() or readCharges(count, 2)
if fault then return fault end
if #KEYS ~= count + (warmUps and warmUps.count or 0) then
  return redis.error_reply('ERR floodgate: ' .. #KEYS .. ' keys are not those of ' .. count .. ' logs')
end
if warmUps then warming().begin() end
local isRefused = readLogs()
local result = { isRefused and 0 or 1 }
appendReadings(result, isRefused)
return result
