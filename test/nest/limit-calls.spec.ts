import { afterEach, describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Inject,
  Injectable,
  Module,
  Scope,
  SetMetadata,
  type Provider,
  type Type,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { Test, type TestingModule } from '@nestjs/testing';
import {
  LimitCalls,
  MemoryStore,
  RateLimiter,
  RateLimitException,
  RateLimitModule,
  RateLimitUnavailableException,
  type RateLimitModuleOptions,
} from 'nestjs-floodgate';
import { BrokenStore } from '../support/broken-store.ts';
import { RecordingStore } from '../support/recording-store.ts';

const JOB = 'test:job';

@Injectable()
class BaseService {
  readonly sent: string[] = [];

  @LimitCalls({ window: '1m', limit: 2, message: 'Enough.' })
  async send(text: string): Promise<string> {
    this.sent.push(text);
    return `sent ${text}`;
  }
}

@Injectable()
class HeirService extends BaseService {
  @LimitCalls({ name: 'heir', window: '1m', limit: 5 })
  override async send(text: string): Promise<string> {
    return super.send(text);
  }
}

@Injectable()
class TwinService extends BaseService {}

@Injectable()
class MailService {
  @LimitCalls({
    window: '1m',
    limit: 4,
    key: (to: string, _mails: number) => to,
    cost: (_to: string, mails: number) => mails,
  })
  async mail(to: string, mails: number): Promise<string> {
    return `${mails} to ${to}`;
  }

  @SetMetadata(JOB, 'above')
  @LimitCalls({ limit: 1 })
  async above(): Promise<void> {}

  @LimitCalls({ limit: 1 })
  @SetMetadata(JOB, 'below')
  async below(): Promise<void> {}

  @LimitCalls({ window: '150ms', limit: 1, wait: '5s', signal: (signal?: AbortSignal) => signal })
  async paced(_signal?: AbortSignal): Promise<number> {
    return performance.now();
  }

  @LimitCalls({ window: '1m', limit: 1, wait: '10ms' })
  async hurried(): Promise<void> {}

  @LimitCalls({ bucket: 'third-party', window: '1m', limit: 1 })
  async one(): Promise<void> {}

  @LimitCalls({ bucket: 'third-party', window: '1m', limit: 1 })
  async other(): Promise<void> {}
}

@Injectable({ scope: Scope.TRANSIENT })
class TransientService extends BaseService {}

@Injectable({ scope: Scope.REQUEST })
class RequestService extends BaseService {}

/** What the compiler has to refuse. */
class WronglyLimited {
  // @ts-expect-error the method returns no promise
  @LimitCalls()
  immediate(): number {
    return 1;
  }

  // @ts-expect-error the method takes another argument than the key is found by
  @LimitCalls({ key: (user: { id: string }) => user.id })
  async byNumber(user: number): Promise<number> {
    return user;
  }
}

const started: TestingModule[] = [];
afterEach(async () => {
  for (const module of started.splice(0)) await module.close();
});

interface Parts {
  readonly providers?: readonly Provider[];
  readonly controllers?: readonly Type[];
  readonly options?: RateLimitModuleOptions;
}

async function start({ providers = [], controllers = [], options }: Parts): Promise<TestingModule> {
  const module = await Test.createTestingModule({
    imports: [RateLimitModule.forRoot({ store: new MemoryStore(), ...options })],
    providers: [...providers],
    controllers: [...controllers],
  }).compile();
  started.push(module);
  return module.init();
}

const startFault = async (parts: Parts): Promise<string> =>
  start(parts).then(
    () => 'it started',
    (error: unknown) => String(error),
  );

describe('@LimitCalls on a method of a provider', () => {
  it('lets as many calls through as the limit, and throws for the next', async () => {
    const service = (await start({ providers: [BaseService] })).get(BaseService);
    expect(await service.send('a')).toBe('sent a');
    expect(await service.send('b')).toBe('sent b');
    const refusal = service.send('c');

    await expect(refusal).rejects.toBeInstanceOf(RateLimitException);
    await expect(refusal).rejects.toMatchObject({ message: 'Enough.', decision: { refusedBy: [{ limit: 2 }] } });
    expect(service.sent).toEqual(['a', 'b']);
  });

  it('has one budget for everybody, or one for each key, at a cost by the arguments', async () => {
    const service = (await start({ providers: [MailService] })).get(MailService);
    expect(await service.mail('alice', 3)).toBe('3 to alice');

    await expect(service.mail('alice', 2)).rejects.toThrow(RateLimitException);
    expect(await service.mail('bob', 4)).toBe('4 to bob');
    await expect(service.mail('', 1)).rejects.toThrow(/identity must be a string that is not empty/);
  });

  it('keys by the class that declares the method, which heirs share', async () => {
    const store = new RecordingStore(new MemoryStore());
    const module = await start({ providers: [BaseService, TwinService, HeirService], options: { store } });
    await module.get(BaseService).send('a');
    await module.get(TwinService).send('b');
    await expect(module.get(TwinService).send('c')).rejects.toThrow(RateLimitException);

    expect(new Set(store.chargedKeys)).toEqual(new Set(['{method:BaseService.send}']));
    await expect(module.get(HeirService).send('d')).rejects.toThrow(RateLimitException);
    expect(store.chargedKeys.slice(-2)).toEqual(['{method:HeirService.send}#heir', '{method:BaseService.send}']);
  });

  it('shares a bucket, and is known to the limiter service by name', async () => {
    const module = await start({ providers: [MailService, HeirService] });
    await module.get(MailService).one();
    await expect(module.get(MailService).other()).rejects.toThrow(RateLimitException);

    await module.get(RateLimiter).consume('heir', '', { cost: 5 });
    await expect(module.get(HeirService).send('a')).rejects.toThrow(RateLimitException);
  });

  it.each(['above', 'below'] as const)('keeps what a decorator says of the method, from %s', async (name) => {
    const module = await start({ providers: [MailService] });
    const method = module.get(MailService)[name];

    expect(Reflect.getMetadata(JOB, method)).toBe(name);
    expect(method.name).toBe(name);
    // As schedulers call the jobs that they find.
    await method.call(module.get(MailService));
    await expect(method.call(module.get(MailService))).rejects.toThrow(RateLimitException);
  });

  it('waits for its turn where it may, until it is aborted', async () => {
    const service = (await start({ providers: [MailService] })).get(MailService);
    const moments = await Promise.all([service.paced(), service.paced(), service.paced()]);
    expect(moments[2]! - moments[0]!).toBeGreaterThanOrEqual(290);

    const abort = new AbortController();
    const waiting = service.paced(abort.signal);
    abort.abort(new Error('not needed'));
    await expect(waiting).rejects.toThrow('not needed');
    await service.hurried();
    await expect(service.hurried()).rejects.toMatchObject({ decision: { retryAfterMs: expect.any(Number) } });
  });

  it('limits transient and request-scoped providers, and instances that Nest creates later', async () => {
    const module = await start({ providers: [TransientService, RequestService] });
    await (await module.resolve(TransientService)).send('a');
    await (await module.resolve(RequestService)).send('b');

    await expect((await module.resolve(TransientService)).send('c')).rejects.toThrow(RateLimitException);
    await expect((await module.resolve(RequestService)).send('d')).rejects.toThrow(RateLimitException);
    await expect((await module.get(ModuleRef).create(TwinService)).send('e')).rejects.toThrow(RateLimitException);
  });

  it('limits calls of another provider while the application starts', async () => {
    @Injectable()
    class EagerService {
      outcome: unknown;
      constructor(@Inject(BaseService) private readonly base: BaseService) {}
      async onModuleInit() {
        await this.base.send('a');
        await this.base.send('b');
        this.outcome = await this.base.send('c').catch((error: unknown) => error);
      }
    }
    const module = await start({ providers: [EagerService, BaseService] });

    expect(module.get(EagerService).outcome).toBeInstanceOf(RateLimitException);
  });

  it('asks the limiter of its own application, of several in one process', async () => {
    const modules = [await start({ providers: [BaseService] }), await start({ providers: [BaseService] })];
    for (const module of modules) {
      await module.get(BaseService).send('a');
      await module.get(BaseService).send('b');
      await expect(module.get(BaseService).send('c')).rejects.toThrow(RateLimitException);
    }
  });

  it('leaves no trace on the instance', async () => {
    const service = (await start({ providers: [BaseService] })).get(BaseService);
    expect(Reflect.ownKeys(service)).toEqual(['sent']);
  });

  it('fails rather than be unlimited, where Nest did not build the instance', async () => {
    await expect(new BaseService().send('a')).rejects.toThrow(/BaseService\.send: @LimitCalls has no limiter here/);
    const module = await Test.createTestingModule({ providers: [BaseService] }).compile();
    await expect(module.get(BaseService).send('a')).rejects.toThrow(/RateLimitModule is not imported/);
  });

  it('passes through where nothing is limited', async () => {
    const module = await start({ providers: [BaseService, MailService], options: { enabled: false } });
    for (const text of ['a', 'b', 'c']) expect(await module.get(BaseService).send(text)).toBe(`sent ${text}`);
    // Its functions are not asked then.
    expect(await module.get(MailService).mail('', 5)).toBe('5 to ');
  });

  it('passes through while limits are switched off', async () => {
    const module = await start({ providers: [BaseService] });
    module.get(RateLimiter).disable();
    for (const text of ['a', 'b', 'c']) await module.get(BaseService).send(text);
    module.get(RateLimiter).enable();
    for (const text of ['d', 'e']) await module.get(BaseService).send(text);

    await expect(module.get(BaseService).send('f')).rejects.toThrow(RateLimitException);
  });

  it('goes by the failure policy when the store cannot answer', async () => {
    const options = { store: new BrokenStore(), onStoreError: 'deny' } as const;
    const service = (await start({ providers: [BaseService], options })).get(BaseService);
    await expect(service.send('a')).rejects.toBeInstanceOf(RateLimitUnavailableException);
  });
});

const faulty = (options: object): Type => {
  class FaultyService {
    @LimitCalls(options)
    async call(): Promise<void> {}
  }
  return FaultyService;
};

describe('@LimitCalls that cannot work', () => {
  it('does not compile, and rejects where it is called all the same', async () => {
    const call: unknown = new WronglyLimited().immediate();
    await expect(call).rejects.toThrow(/WronglyLimited\.immediate/);
  });

  it.each<[string, object, RegExp]>([
    ['no limit', { limit: 0 }, /FaultyService\.call: limit .*got 0/],
    ['a limit by a function', { limit: () => 5 }, /FaultyService\.call: limit must be a value.*got function/],
    ['a cost above the limit', { limit: 2, cost: 3 }, /FaultyService\.call: cost .*got 3/],
    ['a key that is no function', { key: 'id' }, /FaultyService\.call: key must be a function.*got "id"/],
    ['a wait that is no time', { wait: 'long' }, /FaultyService\.call: wait .*got "long"/],
    ['a queue without places', { maxQueued: 0 }, /FaultyService\.call: maxQueued .*got 0/],
    ['an option of requests', { type: 'IP' }, /FaultyService\.call: type is no option of @LimitCalls.*got "IP"/],
    ['no options', null as unknown as object, /FaultyService\.call: a rule must be an object, got null/],
  ])('fails the start: %s', async (_, options, message) => {
    expect(await startFault({ providers: [faulty(options)] })).toMatch(message);
  });

  it('fails the start on a route, on a static member and on what is no method', async () => {
    @Controller()
    class CallsController {
      @LimitCalls()
      @Get()
      async route(): Promise<void> {}
    }
    @Injectable()
    class OddService {
      @LimitCalls()
      static async all(): Promise<void> {}

      @LimitCalls()
      get value(): () => Promise<void> {
        return async () => undefined;
      }
    }
    const fault = await startFault({ controllers: [CallsController], providers: [OddService] });

    expect(fault).toMatch(/CallsController\.route: @LimitCalls stands on a handler of HTTP requests.*@RateLimit/);
    expect(fault).toMatch(/OddService\.all: @LimitCalls stands on a static member/);
    expect(fault).toMatch(/OddService\.value: @LimitCalls stands on what is no method/);
  });

  it('fails the start for an instance that a factory built, or that is a value', async () => {
    const message = /BaseService\.send: @LimitCalls .*factory/;
    expect(await startFault({ providers: [{ provide: 'made', useFactory: () => new BaseService() }] })).toMatch(
      message,
    );
    expect(await startFault({ providers: [{ provide: 'made', useValue: new BaseService() }] })).toMatch(message);
  });

  it('adds the module where classes of one name are in several, and fails where they are in one', async () => {
    const [first, second] = [faulty({ limit: 1 }), faulty({ limit: 1 })];
    expect(await startFault({ providers: [first, second] })).toMatch(
      /"FaultyService\.call \[in .*cannot be told apart/,
    );

    @Module({ providers: [first], exports: [first] })
    class FirstModule {}
    @Module({ providers: [second], exports: [second] })
    class SecondModule {}
    const module = await Test.createTestingModule({
      imports: [RateLimitModule.forRoot({ store: new MemoryStore() }), FirstModule, SecondModule],
    }).compile();
    started.push(module);
    for (const type of [first, second]) {
      const { call } = module.get<{ call: () => Promise<void> }>(type);
      await call.call(module.get(type));
      await expect(call.call(module.get(type))).rejects.toThrow(RateLimitException);
    }
  });
});
