/** One rule of the code broken on purpose. The tests named must turn red. */
export interface Mutation {
  /** What is taken away, for the report. */
  readonly takesAway: string;
  readonly file: string;
  /** Occurs once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Paths of tests, as the test command takes them. */
  readonly tests: string;
}

const lua = 'test/lua';
const memory = 'test/memory';
const redis = 'test/redis';
const failure = 'test/failure';

export const MUTATIONS: readonly Mutation[] = [
  // The sliding window in Redis.
  {
    takesAway: 'the end of a window is no part of it',
    file: 'lua/window.lua',
    find: "now - windows[i] + 1, '+inf'",
    replace: "now - windows[i], '+inf'",
    tests: lua,
  },
  {
    takesAway: 'the cost is part of the sum',
    file: 'lua/window.lua',
    find: 'if live[i] + costs[i] > limits[i] then full = true end',
    replace: 'if live[i] >= limits[i] then full = true end',
    tests: lua,
  },
  {
    takesAway: 'retry times wait for as many entries as the cost needs',
    file: 'lua/window.lua',
    find: 'stampAt(i, cost - limit - 1)',
    replace: 'stampAt(i, -limit)',
    tests: lua,
  },
  {
    takesAway: 'durations are rounded up',
    file: 'lua/window.lua',
    find: 'return math.ceil((stamp',
    replace: 'return math.floor((stamp',
    tests: lua,
  },
  {
    takesAway: 'ids cannot be units of other calls',
    file: 'lua/window.lua',
    find: "'^[%w_-]+$'",
    replace: "'.'",
    tests: lua,
  },
  {
    takesAway: 'keys outlive their window',
    file: 'lua/consume.lua',
    find: "redis.call('PEXPIRE', KEYS[i], windows[i] / 1000 + extraExpiry)",
    replace: "redis.call('PEXPIRE', KEYS[i], windows[i] / 1000)",
    tests: lua,
  },
  {
    takesAway: 'refusals write an expiry',
    file: 'lua/consume.lua',
    find: '    restampFuture(i)\n    expire(i)',
    replace: '    restampFuture(i)',
    tests: lua,
  },
  {
    takesAway: 'repetitions repair the expiry',
    file: 'lua/consume.lua',
    find: 'for i = 1, #KEYS do expire(i) end',
    replace: '',
    tests: lua,
  },
  {
    takesAway: 'nothing is written before the first admission',
    file: 'lua/consume.lua',
    find: 'for i = 1, #KEYS do\n  if not add(i) then',
    replace: 'for i = 1, #KEYS do trim(i) end\nfor i = 1, #KEYS do\n  if not add(i) then',
    tests: lua,
  },
  {
    takesAway: 'trimming is bounded',
    file: 'lua/consume.lua',
    find: 'math.min(stale, math.max(MIN_TRIM, 2 * costs[i])) - 1',
    replace: 'stale - 1',
    tests: lua,
  },
  {
    takesAway: 'live entries are not trimmed',
    file: 'lua/consume.lua',
    find: 'math.min(stale, math.max(MIN_TRIM, 2 * costs[i])) - 1',
    replace: 'math.max(MIN_TRIM, 2 * costs[i]) - 1',
    tests: lua,
  },
  {
    takesAway: 'entries from the future are re-stamped',
    file: 'lua/consume.lua',
    find: '    restampFuture(i)\n',
    replace: '',
    tests: lua,
  },
  {
    takesAway: 're-stamping takes steps that the server can take',
    file: 'lua/consume.lua',
    find: 'local RESTAMP_AT_ONCE = 1000',
    replace: 'local RESTAMP_AT_ONCE = 10000',
    tests: lua,
  },
  {
    takesAway: 'a repetition is admitted on a full log',
    file: 'lua/consume.lua',
    find: 'if holdsCall(i) then return repeated() end',
    replace: '',
    tests: `${lua} ${redis}/redis-store`,
  },
  {
    takesAway: 'a repetition is not charged again',
    file: 'lua/consume.lua',
    find: '  if holdsRemains(i) then',
    replace: '  if true then',
    tests: `${lua} ${redis}/redis-store`,
  },
  {
    takesAway: 'a repetition leaves the logs that it was added to before it was found',
    file: 'lua/consume.lua',
    find: "for earlier = 1, i - 1 do redis.call('ZREM', KEYS[earlier], unpack(membersOf(costs[earlier]))) end",
    replace: '',
    tests: lua,
  },
  {
    takesAway: 'stale units of an id are stamped anew',
    file: 'lua/consume.lua',
    find: "    redis.call('ZADD', KEYS[i], stampedMembers(cost))\n    return true",
    replace: '    return true',
    tests: lua,
  },
  {
    takesAway: 'a refund takes out all units',
    file: 'lua/refund.lua',
    find: 'unpack(membersOf(costs[i]))',
    replace: 'id',
    tests: lua,
  },
  {
    takesAway: 'a peek changes nothing',
    file: 'lua/peek.lua',
    find: 'return reply(countLive() and 0 or 1)',
    replace: "redis.call('ZADD', KEYS[1], now, 'peeked') return reply(countLive() and 0 or 1)",
    tests: lua,
  },
  // The sliding window in process.
  {
    takesAway: 'entries live while they are younger than the window',
    file: 'src/core/window-log.ts',
    find: '      if (at > horizon) break;',
    replace: '      if (at >= horizon) break;',
    tests: memory,
  },
  {
    takesAway: 'the cost is part of the sum',
    file: 'src/core/sliding-window.ts',
    find: 'if (live + cost <= limit) return reading;',
    replace: 'if (live < limit) return reading;',
    tests: memory,
  },
  {
    takesAway: 'a cost above the limit has no retry time',
    file: 'src/core/sliding-window.ts',
    find: 'if (!log || cost > limit)',
    replace: 'if (!log)',
    tests: memory,
  },
  {
    takesAway: 'a repeated id is not charged again',
    file: 'src/memory/memory-store.ts',
    find: 'if (repeated)',
    replace: 'if (repeated && !repeated)',
    tests: memory,
  },
  {
    takesAway: 'the newest entry is found again after a refund',
    file: 'src/core/window-log.ts',
    find: 'for (const { at } of this.#entries.values()) this.#newestAt = at;',
    replace: '',
    tests: memory,
  },
  {
    takesAway: 'the number of keys is bounded',
    file: 'src/memory/memory-store.ts',
    find: 'if (this.#size + untracked.size > this.#maxKeys) throw',
    replace: 'if (this.#size + untracked.size > Infinity) throw',
    tests: memory,
  },
  {
    takesAway: 'expired keys are swept as it works',
    file: 'src/memory/memory-store.ts',
    find: 'for (const { windowMs } of merged) this.#sweep(windowMs, now);',
    replace: '',
    tests: memory,
  },
  {
    takesAway: 'charges on one log are merged',
    file: 'src/core/charge.ts',
    find: 'cost: Math.max(other.cost, charge.cost),',
    replace: '',
    tests: memory,
  },
  // The store around it.
  {
    takesAway: 'the source is sent for an unknown script only',
    file: 'src/redis/lua-script.ts',
    find: "!error.message.startsWith('NOSCRIPT')",
    replace: 'false',
    tests: redis,
  },
  {
    takesAway: 'the source is sent for an unknown script',
    file: 'src/redis/lua-script.ts',
    find: "!error.message.startsWith('NOSCRIPT')",
    replace: 'true',
    tests: redis,
  },
  {
    takesAway: 'nothing is sent to a client that is not ready',
    file: 'src/redis/redis-store.ts',
    find: "if (status !== 'ready') throw",
    replace: "if (status === 'never') throw",
    tests: redis,
  },
  {
    takesAway: 'our connections are closed',
    file: 'src/create-rate-limit-store.ts',
    find: 'close: async () => owned && closeRedis(owned)',
    replace: 'close: async () => undefined',
    tests: redis,
  },
  {
    takesAway: 'refused slots give back what earlier slots took',
    file: 'src/redis/slot-store.ts',
    find: '        if (!decision.allowed) {\n          await this.#giveBack(id, taken);',
    replace: '        if (!decision.allowed) {',
    tests: redis,
  },
  {
    takesAway: 'busy processes read their answers first',
    file: 'src/core/deadline.ts',
    find: 'setTimeout(() => setImmediate(() => reject(lateError())), ms)',
    replace: 'setTimeout(() => reject(lateError()), ms)',
    tests: failure,
  },
  {
    takesAway: 'late charges of denied calls are given back',
    file: 'src/failure/failure-policy-store.ts',
    find: "if ((error as StoreUnavailableError).kind === 'timeout') this.#inner.refund(request).catch(() => undefined);",
    replace: '',
    tests: failure,
  },
  {
    takesAway: 'one charge that denies is enough',
    file: 'src/failure/failure-policy-store.ts',
    find: 'const denied = charges.some(',
    replace: 'const denied = charges.every(',
    tests: failure,
  },
  {
    takesAway: 'changes of state are told once',
    file: 'src/failure/failure-policy-store.ts',
    find: 'if (isAvailable === this.#isAvailable) return;',
    replace: '',
    tests: failure,
  },
];
