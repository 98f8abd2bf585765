import { describe, expect, it } from '@jest/globals';
import { Body, Controller, Post, type ExecutionContext } from '@nestjs/common';
import { RateLimit, type RateLimitOptions } from 'nestjs-floodgate';
import { requestOf } from '../support/authentication.ts';
import { useApps } from '../support/limited-app.ts';
import { LogLines } from '../support/log-lines.ts';
import { PLATFORMS } from '../support/nest-app.ts';

const emailIn = (context: ExecutionContext): string => String(requestOf(context).body?.['email']);

const fails = (context: ExecutionContext): never => {
  throw new Error(`no account ${emailIn(context)}`);
};
const rejects = async (context: ExecutionContext): Promise<never> => fails(context);
const failsByName = (context: ExecutionContext): never => {
  throw Object.assign(new Error('no account'), { name: emailIn(context) });
};
const throwsText = (context: ExecutionContext): never => {
  // oxlint-disable-next-line no-throw-literal, only-throw-error
  throw emailIn(context);
};
const throwsObject = (context: ExecutionContext): never => {
  // oxlint-disable-next-line no-throw-literal, only-throw-error
  throw { [emailIn(context)]: emailIn(context) };
};
const givesText = (context: ExecutionContext): never => emailIn(context) as never;

/** Functions that put what the client sent where the log tells of it. */
const TELLING: readonly (readonly [string, RateLimitOptions])[] = [
  ['key fails', { key: fails }],
  ['key rejects', { key: rejects }],
  ['key fails with a name', { key: failsByName }],
  ['key throws a text', { key: throwsText }],
  ['key throws an object', { key: throwsObject }],
  ['skip fails', { skip: fails }],
  ['skip rejects', { skip: rejects }],
  ['limit fails', { limit: fails }],
  ['limit is the text', { limit: givesText }],
  ['window is the text', { window: givesText }],
  ['cost is the text', { cost: givesText }],
  ['message fails', { limit: 1, message: (_, context) => fails(context) }],
];

const HOSTILE: readonly (readonly [string, string])[] = [
  ['line ends', 'a\r\n[Nest] 1 - ERROR forged\rb\nc'],
  ['terminal commands', '\u001b[2J\u001b]0;title\u0007\b\b'],
  ['what else is no character', '\0\u0001\v\f\u001f \ud83d \ude00'],
  ['eight-bit commands', '\u009b2J\u0085\u007f'],
  ['directions and separators', '\u202egnp\u2066\u200f\u061c\u2028\u2029\u{e0041}'],
  ['pairs cut in two', `${'😀'.repeat(60)}`],
  ['pairs cut in two elsewhere', `x${'😀'.repeat(60)}`],
  ['a long text', 'x'.repeat(60_000)],
];

/** All that moves a cursor, turns or ends a line, or is half a character. */
const UNESCAPED = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

describe.each(PLATFORMS)('what a client sends, told in the log on %s', (platform) => {
  const start = useApps();

  describe.each(HOSTILE)('%s', (_, email) => {
    it.each(TELLING)('is escaped, on one short line: %s', async (_function, rule) => {
      @Controller()
      class TellingController {
        @RateLimit(rule)
        @Post('login')
        login(@Body() body: unknown): unknown {
          return body;
        }
      }
      const logger = new LogLines();
      const app = await start(platform, { controllers: [TellingController], logger });
      for (let i = 0; i < 2; i++) await app.post('/login', { body: { email } });

      const told = logger.matching(/TellingController\.login /);
      expect(told).toHaveLength(1);
      expect(told[0]!.length).toBeLessThan(700);
      expect(logger.matching(UNESCAPED)).toEqual([]);
    });
  });

  it('is escaped, too, where it is why no address was found', async () => {
    const logger = new LogLines();
    const ip = fails;
    const app = await start(platform, { controllers: [AddressController], logger, options: { identity: { ip } } });
    for (const [, email] of HOSTILE) expect((await app.post('/address', { body: { email } })).status).toBe(503);

    expect(logger.errors).toHaveLength(1);
    expect(logger.matching(UNESCAPED)).toEqual([]);
  });
});

@Controller()
class AddressController {
  @RateLimit({ type: 'IP' })
  @Post('address')
  post() {}
}
