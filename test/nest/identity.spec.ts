import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, UseGuards, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { RateLimit, type KeyFunction, type RateLimitModuleOptions } from 'nestjs-floodgate';
import { requestOf } from '../support/authentication.ts';
import { useApps } from '../support/limited-app.ts';
import { LogLines } from '../support/log-lines.ts';

/** What authentication finds, as the test says. */
let user: unknown;

@Injectable()
class FindsUser implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    (requestOf(context) as { user?: unknown }).user = user;
    return true;
  }
}

@UseGuards(FindsUser)
@Controller()
class UsersController {
  @RateLimit({ limit: 1, type: 'USER' })
  @Get('user')
  get() {}

  @RateLimit({ limit: 1, type: 'USER' }, { limit: 5, type: 'IP' })
  @Get('user-and-address')
  both() {}

  @RateLimit({ limit: 1, type: 'USER', onStoreError: 'deny' })
  @Get('strict')
  strict() {}
}

const controllers = [UsersController];
const circular: Record<string, unknown> = {};
circular['id'] = circular;

describe('a user', () => {
  const start = useApps();

  const keyOf = async (found: unknown, options: RateLimitModuleOptions = {}): Promise<string | undefined> => {
    user = found;
    const app = await start('express', { controllers, options });
    expect((await app.get('/user')).status).toBe(200);
    return app.store.chargedKeys[0]?.replace(':GET /user', '');
  };

  it.each<[string, unknown, string]>([
    ['its id', { id: 'alice' }, '{user:alice}'],
    ['its sub', { sub: 'auth0|alice' }, '{user:auth0|alice}'],
    ['its userId', { userId: 'alice' }, '{user:alice}'],
    ['its id before its sub and userId', { userId: 'c', sub: 'b', id: 'a' }, '{user:a}'],
    ['its sub before its userId', { userId: 'c', sub: 'b' }, '{user:b}'],
    ['a number', { id: 42 }, '{user:42}'],
    ['zero', { id: 0, sub: 'other' }, '{user:0}'],
    ['a negative number', { id: -1 }, '{user:-1}'],
    ['a big integer', { id: 9_007_199_254_740_993n }, '{user:9007199254740993}'],
    ['the next when the first is empty', { id: '', sub: 'b' }, '{user:b}'],
    ['the next when the first is null', { id: null, userId: 'c' }, '{user:c}'],
    [
      'what a class gives',
      new (class {
        get id() {
          return 'getter';
        }
      })(),
      '{user:getter}',
    ],
    ['not an address that looks the same', { id: '127.0.0.1' }, '{user:127.0.0.1}'],
    ['not the name of a property', { id: '__proto__' }, '{user:__proto__}'],
    ['the text of an object that has one of its own', { id: { toString: () => '65f0c' } }, '{user:65f0c}'],
  ])('is identified by %s', async (_, found, key) => {
    expect(await keyOf(found)).toBe(key);
  });

  it.each<[string, unknown]>([
    ['is missing', undefined],
    ['is null', null],
    ['is text', 'alice'],
    ['has no id', { name: 'alice' }],
    ['has an empty id only', { id: '', sub: null }],
    ['has an object as id', { id: { oid: 'a' } }],
    ['has an object with an empty text as id', { id: { toString: () => '' } }],
    ['has a list as id', { id: ['alice'] }],
    ['has true as id', { id: true }],
    ['has no number as id', { id: NaN }],
    ['has an infinite id', { id: Infinity }],
    ['has a symbol as id', { id: Symbol('alice') }],
    ['has itself as id', circular],
  ])('who %s is anonymous', async (_, found) => {
    expect(await keyOf(found)).toBe('{anon-user:127.0.0.1}');
  });

  it.each<[string, KeyFunction]>([
    ['gives text', () => 'from-function'],
    ['gives a promise', async () => 'from-function'],
  ])('is who the application’s own function says: one that %s', async (_, find) => {
    expect(await keyOf({ id: 'ignored' }, { identity: { user: find } })).toBe('{user:from-function}');
  });

  it.each<[string, KeyFunction]>([
    ['nothing', () => undefined],
    ['null', async () => null],
    ['no text', () => ''],
  ])('is anonymous when the application’s own function gives %s', async (_, find) => {
    expect(await keyOf({ id: 'ignored' }, { identity: { user: find } })).toBe('{anon-user:127.0.0.1}');
  });

  it('follows the rule’s policy when the application’s own function fails', async () => {
    const logger = new LogLines();
    const find = (): string => {
      throw new Error('directory is down');
    };
    const app = await start('express', { controllers, logger, options: { identity: { user: find } } });

    expect(await app.statuses(2, '/user')).toEqual([200, 200]);
    expect(await app.statuses(2, '/strict')).toEqual([503, 503]);
    expect(logger.matching(/directory is down/)).toHaveLength(2);
  });
});

describe('a request without a user', () => {
  const start = useApps();
  const anonymously = (anonymous: 'ip' | 'deny' | 'skip') => {
    user = undefined;
    return start('fastify', { controllers, options: { identity: { anonymous } } });
  };

  it('is limited by its address, in a budget apart from that of the address itself', async () => {
    const app = await anonymously('ip');

    expect(await app.statuses(2, '/user-and-address')).toEqual([200, 429]);
    expect(new Set(app.store.chargedKeys)).toEqual(
      new Set(['{ip:127.0.0.1}:GET /user-and-address', '{anon-user:127.0.0.1}:GET /user-and-address']),
    );
  });

  it('shares no budget with a user whose id is that address', async () => {
    const app = await anonymously('ip');
    expect(await app.statuses(2, '/user')).toEqual([200, 429]);
    user = { id: '127.0.0.1' };

    expect(await app.statuses(2, '/user')).toEqual([200, 429]);
  });

  it('is refused with 403 where the application says so, and what its address was charged is given back', async () => {
    const app = await anonymously('deny');

    expect(await app.statuses(2, '/user')).toEqual([403, 403]);
    expect(await app.statuses(9, '/user-and-address')).toEqual(Array(9).fill(403));
    expect(app.store.refunded).toHaveLength(9);
  });

  it('is not limited by that rule where the application says so, but by the others', async () => {
    const app = await anonymously('skip');

    expect(await app.statuses(2, '/user')).toEqual([200, 200]);
    expect(await app.statuses(6, '/user-and-address')).toEqual([200, 200, 200, 200, 200, 429]);
  });
});
