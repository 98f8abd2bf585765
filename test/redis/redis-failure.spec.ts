import { describe, expect, it } from '@jest/globals';
import { StoreUnavailableError } from '../../src/core/errors.ts';
import { redisFailure } from '../../src/redis/redis-failure.ts';
import { useRedis } from '../support/redis.ts';

/** As ioredis makes them of replies. */
const replyError = (message: string): Error => Object.assign(new Error(message), { name: 'ReplyError' });

describe('an error of the Redis client', () => {
  const { client } = useRedis();

  it.each([
    ['READONLY You can’t write against a read only replica.', 'readonly'],
    ['OOM command not allowed when used memory > ‘maxmemory’.', 'out-of-memory'],
    ['-OOM allow-oom flag is not set on the script, can not run it', 'out-of-memory'],
    ['ERR Error running script (call to f_1): @user_script:57: -OOM command not allowed', 'out-of-memory'],
    ['ERR Error running script (call to f_1): @user_script: 57: WRONGTYPE Operation against a key', 'wrong-type'],
    ['WRONGTYPE Operation against a key holding the wrong kind of value script: 1, on @user_script:57.', 'wrong-type'],
    ['NOPERM this user has no permissions to run the ‘evalsha’ command', 'no-permission'],
    ['ERR The user executing the script can’t run this command'.replace('’', "'"), 'no-permission'],
    ['ERR ACL failure in script: User u has no permissions', 'no-permission'],
    ['NOAUTH Authentication required.', 'no-permission'],
    ['WRONGPASS invalid username-password pair or user is disabled.', 'no-permission'],
    ['MISCONF Redis is configured to save RDB snapshots', 'readonly'],
    ['NOREPLICAS Not enough good replicas to write.', 'readonly'],
    ['CLUSTERDOWN Hash slot not served', 'cluster-down'],
    ['MOVED 3999 127.0.0.1:6381', 'cluster-down'],
    ['TRYAGAIN Multiple keys request during rehashing of slot', 'cluster-down'],
    ['CROSSSLOT Keys in request don’t hash to the same slot', 'cross-slot'],
    ['LOADING Redis is loading the dataset in memory', 'loading'],
    ['MASTERDOWN Link with MASTER is down', 'loading'],
    ['BUSY Redis is busy running a script.', 'busy'],
    ['ERR unknown command ‘EVALSHA’', 'unknown'],
  ])('is told by what the reply means: %s', (message, kind) => {
    const reply = replyError(message);
    expect(redisFailure(reply)).toMatchObject({
      name: 'StoreUnavailableError',
      kind,
      message: `Redis: ${message}`,
      cause: reply,
    });
  });

  it.each(['Connection is closed.', 'connect ECONNREFUSED 127.0.0.1:6379'])(
    'is one of the connection where nothing was replied: %s',
    (message) => {
      expect(redisFailure(new Error(message))).toMatchObject({ kind: 'connection', message: `Redis: ${message}` });
    },
  );

  it('is a fault of the caller where our script says so', () => {
    const reply = replyError('ERR floodgate: limit (ARGV[3]) must be a whole number from 1 to 10000, got "x"');
    expect(redisFailure(reply)).toMatchObject({ name: 'RateLimitRequestError', message: reply.message, cause: reply });
  });

  it.each([
    ['return nil + 1', 'attempt to perform arithmetic'],
    ['return math.floor()', 'bad argument'],
    ['local ok, text = pcall(function() return nil + 1 end) return redis.error_reply(text)', 'attempt to'],
  ])('is a bug, and no state of the store, where a script itself is wrong: %s', async (script, reason) => {
    const thrown: unknown = await client.eval(script, 0).catch((error: unknown) => error);
    const failure = redisFailure(thrown);
    expect(failure).not.toBeInstanceOf(StoreUnavailableError);
    expect(failure.message).toMatch(new RegExp(`^a script of Floodgate failed: .*${reason}`));
  });

  it('of a Cluster is what its last node failed with', () => {
    const lastNodeError = replyError('NOAUTH Authentication required.');
    const error = Object.assign(new Error('Failed to refresh slots cache.'), { lastNodeError });
    expect(redisFailure(error)).toMatchObject({ kind: 'no-permission', cause: lastNodeError });
  });

  it.each([undefined, null, 'gone'])('is told though it is none: %p', (thrown) => {
    expect(redisFailure(thrown)).toMatchObject({ kind: 'connection', message: `Redis: ${thrown}` });
  });
});
