-- Limits that climb after a cold start or idleness: src/core/climb.ts says how, and has the same functions, by the same
-- names. It is put after the arguments were read, and makes nothing where no charge asks for it.
--
-- Beside its log, a charge with a warm-up keeps a string of two doubles: usedUpAt and idleFrom, microseconds. Where there
-- is none, the log is cold.

if hasWarmUps then
  local FULL_USE = 1.05

  local states = {} -- of the request at hand, by the number of the charge: { usedUpAt, idleFrom }, or nil
  local isMoved = {} -- whether the state was moved with the server's clock, by the number of the charge

  local function intervalAt(i, left)
    local over, factor = warmUps[i].over, warmUps[i].factor
    if left <= over / 2 then return 1 end
    return math.min(factor, math.sqrt(1 + (factor ^ 2 - 1) * (left / over - 0.5)))
  end

  local function thresholdOf(factor)
    return (factor + 1) / (factor + 5)
  end

  local function levelOf(i, left)
    local over, factor = warmUps[i].over, warmUps[i].factor
    local threshold = thresholdOf(factor)
    if left <= over / 2 then return threshold * left / (over / 2) end
    return threshold + (1 - threshold) * (intervalAt(i, left) - 1) / (factor - 1)
  end

  local function leftOf(i, level)
    local over, factor = warmUps[i].over, warmUps[i].factor
    local threshold = thresholdOf(factor)
    if level <= threshold then return over / 2 * level / threshold end
    local interval = 1 + (factor - 1) * (level - threshold) / (1 - threshold)
    return over * (0.5 + (interval ^ 2 - 1) / (factor ^ 2 - 1))
  end

  local function leftAt(i, moment)
    local state, over = states[i], warmUps[i].over
    if not state then return 1.5 * over end
    if moment <= state.idleFrom then return state.usedUpAt - moment end
    local level = levelOf(i, math.max(0, state.usedUpAt - state.idleFrom)) + (moment - state.idleFrom) / over
    return leftOf(i, math.min(1, level))
  end

  local function limitAt(i, moment)
    return math.ceil(warmUps[i].limit / intervalAt(i, leftAt(i, moment)) - ROUNDING)
  end

  local function timeOf(i, units, interval)
    local stable = windows[i] / warmUps[i].limit
    local fallPerUnit = (warmUps[i].factor ^ 2 - 1) * stable / (2 * warmUps[i].over)
    local climbing = math.min(units, (interval - 1) / fallPerUnit)
    return stable * (climbing * (interval - climbing * fallPerUnit / 2) + (units - climbing))
  end

  local function stateKey(i)
    return keys[logs + warmUps[i].place]
  end

  -- A state further in the future than any admission takes it tells that the server's clock stepped back: it is moved
  -- with the clock. One with more left than there is tells that the warm-up was shortened.
  local function readState(i)
    local text = redis.call('GET', stateKey(i))
    states[i], isMoved[i] = nil, false
    if not text or #text ~= 16 then return end
    local usedUpAt, idleFrom = struct.unpack('<dd', text)
    local ahead = math.max(0, idleFrom - now - FULL_USE * windows[i])
    usedUpAt = math.min(usedUpAt, idleFrom + 1.5 * warmUps[i].over)
    states[i] = { usedUpAt = usedUpAt - ahead, idleFrom = idleFrom - ahead }
    isMoved[i] = ahead > 0
  end

  -- With an expiry: afterwards the log is cold, and nothing has to be known.
  local function writeState(i)
    local state = states[i]
    local coldIn = state.idleFrom - now
      + (1 - levelOf(i, math.max(0, state.usedUpAt - state.idleFrom))) * warmUps[i].over
    local expiry = string.format('%.0f', math.ceil(coldIn / 1000) + extraExpiry)
    redis.call('SET', stateKey(i), struct.pack('<dd', state.usedUpAt, state.idleFrom), 'PX', expiry)
  end

  local function after(i, cost, free)
    local state = states[i]
    if not state or now > state.idleFrom then state = { usedUpAt = now + leftAt(i, now), idleFrom = now } end
    local units = free < cost and cost + free or cost
    local use = timeOf(i, units, intervalAt(i, math.max(0, state.usedUpAt - state.idleFrom)))
    local idleFrom = math.min(state.idleFrom + FULL_USE * use, now + FULL_USE * windows[i])
    return { usedUpAt = state.usedUpAt, idleFrom = idleFrom }
  end

  -- Units still in the window at a later moment.
  local function liveAt(i, moment)
    local log = slices[i]
    if not log then return redis.call('ZCOUNT', keys[i], string.format('%.0f', moment - windows[i] + 1), '+inf') end
    local stale = math.floor((moment - windows[i]) / (windows[i] / SLICES)) - log.first + 1
    local units = log.units
    for slice = 1, math.min(stale, #log.counts / 4) do
      units = units - struct.unpack('<I4', log.counts, 4 * slice - 3)
    end
    return units
  end

  warmUp = {}

  -- Puts the effective limits of this moment in the place of the limits of the request at hand.
  function warmUp.begin()
    local effective, most = {}, {}
    for i = 1, logs do
      effective[i] = limits[i]
      if warmUps[i] then
        readState(i)
        effective[i] = limitAt(i, now)
      end
      most[i] = effective[i] - math.max(1, costs[i])
    end
    limits, mostLive = effective, most
  end

  -- Milliseconds, rounded up, until the charge has room if nobody else takes it. Until idleFrom the limit climbs and the
  -- log empties, so the first moment is found by halves; later the limit falls, and only what leaves makes room.
  function warmUp.retryAfterMs(i)
    local room = math.max(1, costs[i])
    local function isRefusedAt(ms)
      local moment = now + 1000 * ms
      return liveAt(i, moment) + room > limitAt(i, moment)
    end
    local climbing = states[i] and math.max(0, math.floor((states[i].idleFrom - now) / 1000)) or 0
    if climbing > 0 and not isRefusedAt(climbing) then
      local refused, admitted = 0, climbing
      while admitted - refused > 1 do
        local between = math.floor((refused + admitted) / 2)
        if isRefusedAt(between) then refused = between else admitted = between end
      end
      return admitted
    end
    local ms = climbing + 1
    while isRefusedAt(ms) do
      local left = limitAt(i, now + 1000 * ms) - room
      local stamp = slices[i] and compact.stampBefore(i, left) or stampAt(i, -left - 1)
      ms = math.max(ms + 1, math.ceil((stamp + windows[i] - now) / 1000))
    end
    return ms
  end

  -- Writes how the climbs go on after the request at hand was admitted, which left so many live units. A refund leaves
  -- them as they are.
  function warmUp.save(live)
    for i = 1, logs do
      if warmUps[i] and costs[i] > 0 then
        states[i] = after(i, costs[i], limits[i] - live[i])
        writeState(i)
      end
    end
  end

  -- Writes what was moved with the server's clock, of a request that is refused: from then on, the climb is that of which
  -- it is told when there is room.
  function warmUp.saveMoved(i)
    if isMoved[i] then writeState(i) end
  end
end
