-- The request of peek.lua, as its head describes it; it is put before the rest of it.

local count = (#ARGV - 1) / 4
local fault = readNow() or readCharges(count, 2)
if fault then return fault end
if #KEYS ~= count + (warmUps and warmUps.count or 0) then
  return redis.error_reply('ERR floodgate: ' .. #KEYS .. ' keys are not those of ' .. count .. ' logs')
end
