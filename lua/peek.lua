-- What consume.lua would answer a new call now. Writes nothing.
--
-- KEYS[i]              the log of charge i, each log once
-- ARGV[1]              now in microseconds, or '' for the server's clock
-- ARGV[3i-1 .. 3i+1]   limit (units), window (milliseconds) and cost (units) of charge i
--
-- Reply and errors: as of consume.lua; remaining is what is free before the call.

local fault = readNow() or readCharges(2)
if fault then return fault end
return reply(countLive() and 0 or 1)
