import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { RateLimiter, StoreUnavailableError, type StoreEvent, type StoreFailureKind } from 'nestjs-floodgate';
import { StoreEventStream } from '../../src/nest/store-event-stream.ts';
import { FailingStore } from '../support/failing-store.ts';
import { useApps } from '../support/limited-app.ts';

const RULE = { name: 'events', window: '1m', limit: 100, onStoreError: 'allow' } as const;

const described = (event: StoreEvent): string =>
  event.type === 'unavailable' ? `${event.type}: ${event.error.kind}` : event.type;

describe('the events of the store', () => {
  const start = useApps();

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const limited = async () => {
    const store = new FailingStore();
    const { app, close } = await start('express', { options: { store } });
    const limiter = app.get(RateLimiter);
    const fail = async (kind: StoreFailureKind): Promise<void> => {
      store.failure = kind;
      for (let i = 0; i < 10; i++) await limiter.consume(RULE, 'alice');
    };
    const recover = async (): Promise<void> => {
      store.failure = undefined;
      jest.advanceTimersByTime(1_000);
      await limiter.consume(RULE, 'alice');
    };
    const listen = (): string[] => {
      const told: string[] = [];
      limiter.storeEvents$.subscribe({
        next: (event) => told.push(described(event)),
        complete: () => told.push('end'),
      });
      return told;
    };
    return { app, close, limiter, fail, recover, listen };
  };

  it('are told to every subscriber, once for each change', async () => {
    const { fail, recover, listen } = await limited();
    const [one, other] = [listen(), listen()];
    await fail('loading');
    await recover();
    await fail('busy');

    expect(one).toEqual(['unavailable: loading', 'available', 'unavailable: busy']);
    expect(other).toEqual(one);
  });

  it('begin with the outage that there is, for whoever comes late', async () => {
    const { fail, recover, listen } = await limited();
    await fail('loading');
    const told = listen();
    await recover();

    expect(told).toEqual(['unavailable: loading', 'available']);
  });

  it('do not begin with an outage that is over', async () => {
    const { fail, recover, listen } = await limited();
    await fail('loading');
    await recover();

    expect(listen()).toEqual([]);
  });

  it('tell failures of single requests, which are no outage', async () => {
    const { fail, listen } = await limited();
    const told = listen();
    await fail('wrong-type');

    expect(told).toEqual(['unavailable: wrong-type']);
    expect(listen()).toEqual([]);
  });

  it('begin with the warnings that there were before', async () => {
    const { app, listen } = await limited();
    app.get(StoreEventStream).tell({ type: 'warning', code: 'FLOODGATE_OLD_REDIS', message: 'old' });

    expect(listen()).toEqual(['warning']);
  });

  it('begin with the warning and then the outage of a start without Redis', async () => {
    const stream = new StoreEventStream();
    const error = new StoreUnavailableError('connection', 'away');
    stream.tell({ type: 'warning', code: 'FLOODGATE_CLIENT_OPTIONS', message: 'queues' });
    stream.tell({ type: 'unavailable', error });
    const told: StoreEvent[] = [];
    stream
      .from(() => ({ state: 'unavailable', since: 0, circuit: 'closed', lastError: error }))
      .subscribe((event) => told.push(event));

    expect(told.map(described)).toEqual(['warning', 'unavailable: connection']);
  });

  it('end when the application closes, for those who come later too', async () => {
    const { close, fail, listen } = await limited();
    const told = listen();
    await close();

    expect(told).toEqual(['end']);
    expect(listen()).toEqual(['end']);
    await fail('loading');
    expect(told).toEqual(['end']);
  });

  it('are not told any more to whoever has unsubscribed', async () => {
    const { limiter, fail } = await limited();
    const told: StoreEvent[] = [];
    limiter.storeEvents$.subscribe((event) => told.push(event)).unsubscribe();
    await fail('loading');

    expect(told).toEqual([]);
  });
});
