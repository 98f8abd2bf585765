-- What consume.lua would answer a new call now. Writes nothing.
--
-- KEYS[i]              the log of charge i, each log once
-- ARGV[1]              now in microseconds, or '' for the server's clock
-- ARGV[4i-2 .. 4i+1]   limit (units), window (milliseconds), cost (units) and layout ('exact' or 'compact') of charge i
--
-- Reply: { verdict, remaining, resetAfterMs, retryAfterMs, … three for each charge }, as of consume.lua; remaining is
-- what is free before the call.
-- Errors: as of consume.lua.

local fault = readNow() or readCharges(#KEYS, 2)
if fault then return fault end
local isRefused = readLogs()
local result = { isRefused and 0 or 1 }
appendReadings(result, isRefused)
return result
