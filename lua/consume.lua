-- Decides many requests, one after another: of each it takes all charges or none, counting the live units, deciding, and
-- only then writing.
--
-- KEYS              of each request, in their order, the logs, each once, and then the states of those with a warm-up (in
--                   the hash slot of the logs); and at the end
-- KEYS[#KEYS]       the epoch: since when this server keeps what it is told (in the hash slot of the logs)
-- ARGV[1]           now in microseconds, or '' for the server's clock
-- ARGV[2]           how many plans follow
-- ARGV[3 ..]        the plans: for each log of a request limit (units), window (milliseconds), cost (units) and layout
--                   ('exact' or 'compact', with a warm-up its milliseconds and factor besides, of an exact log up to a
--                   limit of 128), all parted by blanks: '10 60000 1 exact 5000 3600000 1 compact~30000~3'
-- then, in pairs    the id of a request, and which of the plans is its own (from 1)
--
-- Reply: { … for each request, now, began }
--   of a request admitted       1, and for each log remaining, and resetAfterMs where the cost is 0
--   of one admitted before      2, and for each log remaining, resetAfterMs and 0
--   of one refused              0, and for each log remaining, resetAfterMs and retryAfterMs
--   of one that failed          the error of its command, as a string; what it took is taken back, and the others are
--                               decided
--   remaining     units free after the decision, by the limit that a warm-up has reached
--   resetAfterMs  milliseconds, rounded up, until the log is empty. Where it is not told: the window, of a compact log
--                 counted from the end of the slice
--   retryAfterMs  milliseconds, rounded up, until this charge has room; 0 when it has, -1 when waiting does not help
--   now           microseconds, the moment of the decisions
--   began         microseconds, the epoch: now where there was none, as on a server that lost its data
-- Errors: 'ERR floodgate: …' naming the argument, with nothing written; READONLY on a replica.
--
-- The first write is a ZADD or a SET, which Redis refuses when it is out of memory; a trim or an expiry before it would
-- switch that check off. Refused requests write an expiry, at the end, so that a read-only replica answers READONLY; so
-- do those that are admitted and take nothing, since every cost is 0.

local EPOCH_MS = 400 * 86400000 -- longer than the longest window

local function judge()
  if warmUps then warmUp.begin() end
  if readLogs() then return refusing().deny() end
  -- Compact logs come last: they do not know a repetition.
  for i = 1, logs do
    if not slices[i] and costs[i] > 0 then
      if not addEntries(i) then
        takeAllBack()
        return refusing().repeated()
      end
      takenCount = takenCount + 1
      taken[takenCount] = i
    end
  end
  for i = 1, logs do
    if slices[i] and costs[i] > 0 then
      compact.add(i)
      takenCount = takenCount + 1
      taken[takenCount] = i
    end
  end
  result[#result + 1] = 1
  for i = 1, logs do
    live[i] = live[i] + costs[i]
    if not slices[i] and costs[i] > 0 then
      -- At most a bounded number of entries that left the window: a log that expired as a whole must not stall the server.
      local stale = redis.call('ZCARD', keys[i]) - live[i]
      if stale > 0 then
        redis.call('ZREMRANGEBYRANK', keys[i], 0, math.min(stale, math.max(MIN_TRIM, 2 * costs[i])) - 1)
      end
      redis.call('PEXPIRE', keys[i], expiries[i])
    end
    result[#result + 1] = limits[i] - live[i]
    if costs[i] == 0 then result[#result + 1] = emptyIn(i) end
  end
  if warmUps then warmUp.save(live) end
  if takenCount > 0 then hasAdmitted = true else refusing().renewLater() end
end

keyCount = 0
for r = 1, requestCount do
  local plan = requests[r]
  id = ARGV[firstRequest + 2 * (r - 1)]
  logs, limits, windows, costs = plan.logs, plan.limits, plan.windows, plan.costs
  isCompact, isPossible, mostLive = plan.isCompact, plan.isPossible, plan.mostLive
  starts, expiries, warmUps = plan.starts, plan.expiries, plan.warmUps
  for i = 1, plan.keys do keys[i] = KEYS[keyCount + i] end
  keyCount = keyCount + plan.keys
  takenCount = 0
  local length = #result
  local isJudged, failure = pcall(judge)
  if not isJudged then
    local text = textOf(failure)
    -- As an error of the call, it tells the client to look for the primary. A replica has written nothing.
    if string.find(text, 'READONLY', 1, true) then return redis.error_reply(text) end
    for n = 1, takenCount do pcall(takeBack, taken[n]) end
    for n = length + 1, #result do result[n] = nil end
    result[#result + 1] = text
  end
end

-- The expiries of refused requests and the epoch, which comes after the first write.
local function settle()
  for n = 1, #renewals, 2 do redis.call('PEXPIRE', renewals[n], renewals[n + 1]) end
  if not hasAdmitted and #renewals == 0 then return end
  -- Where the server's clock stepped back behind it, the epoch begins anew.
  if not began or began > now then
    redis.call('SET', epoch, nowText, 'PX', 2 * EPOCH_MS)
  elseif now - began > 1000 * EPOCH_MS then
    redis.call('PEXPIRE', epoch, EPOCH_MS)
  end
end

-- What was admitted stays so, whatever else cannot be written.
if hasAdmitted then pcall(settle) else settle() end
if not began or began > now then began = now end
result[#result + 1] = now
result[#result + 1] = began
return result
