import { describe, expect, it } from '@jest/globals';
import { Controller, Get, type Type } from '@nestjs/common';
import { RateLimit, SkipRateLimit, type RateLimitOptions } from 'nestjs-floodgate';
import { startMessage, startMessageOfRules } from '../support/start-error.ts';

const key = () => 'k';

function limited(onClass: ClassDecorator, onMethod: MethodDecorator = () => {}): Type[] {
  @onClass
  @Controller('limited')
  class LimitedController {
    @onMethod
    @Get()
    get() {}
  }
  return [LimitedController];
}

describe('rules of one place', () => {
  it.each<[string, RateLimitOptions, RateLimitOptions]>([
    ['of METHOD', { limit: 5 }, { limit: 7 }],
    ['written differently', { window: 60 }, { window: '1m', limit: 7 }],
    ['of IP', { type: 'IP', limit: 5 }, { type: 'IP', limit: 7 }],
    ['of USER', { type: 'USER', limit: 5 }, { type: 'USER', limit: 7 }],
    ['of keys', { key, limit: 5 }, { key: () => 'other', limit: 7 }],
    ['of one name', { name: 'a', limit: 5 }, { name: 'a', limit: 7 }],
  ])('conflict when two %s have one window', async (_, one, other) => {
    expect(await startMessageOfRules([one, other])).toMatch(
      /VoucherController\.seckill \(.*\) and VoucherController\.seckill \(.*\).*"GET \/vouchers\/seckill".*names.*bucket/,
    );
  });

  it.each<[string, RateLimitOptions, RateLimitOptions]>([
    ['have different windows', { window: '1s' }, { window: '1m' }],
    ['are of different kinds', { type: 'IP' }, { type: 'METHOD' }],
    ['have different names', { name: 'a' }, { name: 'b' }],
    ['have a name and none', { name: 'a' }, {}],
    ['share a bucket', { bucket: 'a', limit: 5 }, { bucket: 'a', limit: 7 }],
    ['have a bucket and none', { bucket: 'a' }, {}],
  ])('go together when they %s', async (_, one, other) => {
    expect(await startMessageOfRules([one, other])).toBe('');
  });

  it('conflict on a controller, and in the module', async () => {
    const message = await startMessage({
      controllers: limited(RateLimit({ limit: 5 }, { limit: 6 })),
      options: { rules: [{ limit: 7 }, { limit: 8 }] },
    });

    expect(message).toMatch(/LimitedController \(5-per-10s\)/);
    expect(message).toMatch(/forRoot rules\[1\] \(8-per-10s\) and forRoot rules\[0\] \(7-per-10s\)/);
  });

  it('do not conflict with equal ones further out', async () => {
    expect(
      await startMessage({
        controllers: limited(RateLimit({ limit: 5 }), RateLimit({ limit: 5 })),
        options: { rules: [{ limit: 5 }] },
      }),
    ).toBe('');
  });

  it('conflict with those of a base class, which stand on the same controller', async () => {
    @RateLimit({ limit: 5 })
    class Base {}
    @RateLimit({ limit: 6 })
    @Controller()
    class SubController extends Base {
      @Get()
      get() {}
    }

    expect(await startMessage({ controllers: [SubController] })).toMatch(/SubController .* and SubController /);
  });
});

describe('rules of one bucket', () => {
  it.each<[string, RateLimitOptions]>([
    ['window', { bucket: 'shared', window: '1m' }],
    ['kind of identity', { bucket: 'shared', type: 'IP' }],
    ['kind of identity, a key in place of METHOD', { bucket: 'shared', key }],
  ])('conflict when they disagree in %s, wherever they stand', async (_, other) => {
    const message = await startMessage({
      controllers: limited(RateLimit({ bucket: 'shared' }), RateLimit(other)),
    });

    expect(message).toMatch(/LimitedController\.get .* and LimitedController .*bucket shared/);
  });

  it('conflict once, whatever number of classes inherits them', async () => {
    const message = await startMessage({
      controllers: limited(RateLimit({ bucket: 'shared' })),
      options: { rules: [{ bucket: 'shared', window: '1m' }] },
    });

    expect(message).toMatch(/^Rate limiting is misconfigured: .*bucket shared/);
  });

  it('agree in window and kind, and may differ in everything else', async () => {
    const shared = { bucket: 'shared', window: '1m', type: 'IP' } as const;
    expect(
      await startMessage({
        controllers: limited(RateLimit({ ...shared, limit: 5, cost: 2 }), RateLimit({ ...shared, name: 'other' })),
        options: { rules: [{ ...shared, window: 60, limit: 100 }] },
      }),
    ).toBe('');
  });
});

describe('an exemption', () => {
  const application = { options: { rules: [{ name: 'outer' }] } };

  it.each<[string, Type[], RegExp]>([
    ['of a name that no rule has', limited(() => {}, SkipRateLimit('unknown')), /LimitedController\.get: .*"unknown"/],
    ['of such a name on a class', limited(SkipRateLimit('unknown')), /LimitedController: .*"unknown"/],
    ['of a rule beside it', limited(() => {}, both('beside')), /LimitedController\.get: .*"beside".*further out/],
    ['of a rule further in', limited(SkipRateLimit('in'), RateLimit({ name: 'in' })), /LimitedController: .*"in"/],
    ['of a rule that is skipped already', limited(SkipRateLimit('outer'), SkipRateLimit('outer')), /get: .*"outer"/],
    ['of one known and one unknown name', limited(SkipRateLimit('outer', 'no')), /LimitedController: .*"no"/],
    ['beside a replacement', limited(() => {}, onlyAnd(SkipRateLimit())), /LimitedController\.get: .*only/],
    ['by name beside a replacement', limited(onlyAnd(SkipRateLimit('outer'))), /LimitedController: .*only/],
  ])('fails the start: %s', async (_, controllers, message) => {
    expect(await startMessage({ controllers, ...application })).toMatch(message);
  });

  it.each<[string, Type[]]>([
    ['of a rule of the module', limited(() => {}, SkipRateLimit('outer'))],
    ['of a rule of the controller', limited(RateLimit({ name: 'own' }), SkipRateLimit('own', 'outer'))],
    ['of everything where there is nothing', limited(() => {}, SkipRateLimit())],
  ])('starts: %s', async (_, controllers) => {
    expect(await startMessage({ controllers, ...application })).toBe('');
  });

  function both(name: string): MethodDecorator {
    return (...target) => {
      SkipRateLimit(name)(...target);
      RateLimit({ name })(...target);
    };
  }

  function onlyAnd(other: ClassDecorator & MethodDecorator): ClassDecorator & MethodDecorator {
    return (...target: [object, (string | symbol)?, PropertyDescriptor?]) => {
      for (const decorate of [other, RateLimit.only({ limit: 1 })]) {
        (decorate as (...target: [object, (string | symbol)?, PropertyDescriptor?]) => void)(...target);
      }
    };
  }
});

describe('handlers of one verb, path and version', () => {
  it('are told apart by their names in one class', async () => {
    @Controller('twice')
    class TwiceController {
      @RateLimit({ limit: 1 })
      @Get()
      one() {}

      @RateLimit({ limit: 2 })
      @Get()
      other() {}
    }

    expect(await startMessage({ controllers: [TwiceController] })).toBe('');
  });

  it('fail the start when module, class and method have the same names', async () => {
    const [One] = limited(RateLimit({ limit: 1 }), RateLimit({ limit: 1 }));
    const [Two] = limited(RateLimit({ limit: 2 }), RateLimit({ limit: 2 }));
    const message = await startMessage({ controllers: [One!, Two!] });

    expect(message).toMatch(/"GET \/limited \[LimitedController\.get in Root\]".*told apart/);
    expect(message).toMatch(/"\/limited\/\* \[LimitedController in Root\]".*told apart/);
  });

  it('start when no rule has to tell them apart', async () => {
    const [One] = limited(() => {});
    const [Two] = limited(() => {}, RateLimit({ limit: 2 }));

    expect(await startMessage({ controllers: [One!, Two!] })).toBe('');
  });
});
