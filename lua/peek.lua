-- What consume.lua would answer a new call now. Writes nothing.
--
-- KEYS[i]              the log of charge i of n, each log once; and then the states of those with a warm-up
-- ARGV[1]              now in microseconds, or '' for the server's clock
-- ARGV[4i-2 .. 4i+1]   limit (units), window (milliseconds), cost (units) and layout of charge i, as of consume.lua
--
-- Reply: { verdict, remaining, resetAfterMs, retryAfterMs, … three for each charge }, as of consume.lua; remaining is
-- what is free before the call.
-- Errors: as of consume.lua.

if warmUps then warmUp.begin() end
local isRefused = readLogs()
local result = { isRefused and 0 or 1 }
appendReadings(result, isRefused)
return result
