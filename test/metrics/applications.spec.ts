import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { RateLimit, RateLimiter, type RateLimitModuleOptions } from 'nestjs-floodgate';
import { RateLimitOpenTelemetryModule } from 'nestjs-floodgate/opentelemetry';
import { RateLimitPrometheusModule } from 'nestjs-floodgate/prometheus';
import { Counter, Gauge, register, Registry, type OpenMetricsContentType } from 'prom-client';
import { metrics } from '@opentelemetry/api';
import { FailingStore } from '../support/failing-store.ts';
import { useApps, type LimitedAppParts } from '../support/limited-app.ts';
import { LogLines } from '../support/log-lines.ts';
import { Meters } from '../support/meters.ts';
import { exportedSeries, scrapedSeries } from '../support/metrics-of-both.ts';
import { PLATFORMS } from '../support/nest-app.ts';
import { parsePrometheusText } from '../support/prometheus-text.ts';
import { useRedis } from '../support/redis.ts';

@Controller()
class CountedController {
  @RateLimit({ name: 'wide', limit: 30, window: '1m' }, { name: 'narrow', limit: 20, window: '1m', type: 'IP' })
  @Get('both')
  both() {}

  @RateLimit({ name: 'odd', limit: 1, window: '1m' })
  @Get('odd"')
  odd() {}
}

const sum = (values: Iterable<number>): number => [...values].reduce((a, b) => a + b, 0);

describe('metrics', () => {
  const redis = useRedis();
  const startApp = useApps();
  let registry: Registry;
  let meters: Meters;
  beforeEach(() => {
    registry = new Registry();
    meters = new Meters();
  });
  afterEach(() => meters.stop());

  const STORES: readonly (readonly [string, () => RateLimitModuleOptions])[] = [
    ['in process', () => ({})],
    ['in Redis', () => ({ redis: redis.url, keyPrefix: redis.keyPrefix, decisionTimeout: '30s' })],
  ];

  const imports: NonNullable<LimitedAppParts['imports']> = (limits) => [
    limits,
    RateLimitPrometheusModule.forRoot({ registry }),
    RateLimitOpenTelemetryModule.forRoot({ meterProvider: meters.provider }),
  ];
  const start = (options?: RateLimitModuleOptions, platform = PLATFORMS[0]!) =>
    startApp(platform, { controllers: [CountedController], imports, ...(options && { options }) });

  const scraped = async (from = registry) => {
    const families = parsePrometheusText(await from.metrics());
    return (name: string) => scrapedSeries(families.get(name)!);
  };
  const exported = async (from = meters) => {
    const all = await from.collect();
    return (name: string) => {
      const metric = all.get(name);
      return metric ? exportedSeries(metric) : new Map<string, number>();
    };
  };

  describe.each(PLATFORMS)('on %s', (platform) => {
    it.each(STORES)('agree with what the clients of 100 calls at once saw, limits %s', async (_, options) => {
      const { get, app } = await start(options(), platform);
      const statuses = await Promise.all(Array.from({ length: 100 }, async () => (await get('/both')).status));
      const limiter = app.get(RateLimiter);
      const codes = await Promise.all(
        Array.from({ length: 10 }, async () => (await limiter.consume({ name: 'codes', limit: 3 }, '1')).allowed),
      );
      const saw = (status: number): number => statuses.filter((each) => each === status).length;
      expect([saw(200), saw(429)]).toEqual([20, 80]);

      const ofPrometheus = await scraped();
      const ofOpenTelemetry = await exported();
      const decisions = ofPrometheus('floodgate_decisions_total');
      const counted = (...parts: readonly string[]): number =>
        sum([...decisions].filter(([name]) => parts.every((part) => name.includes(part))).map(([, value]) => value));
      expect(counted('rule=narrow', 'place=GET /both', 'outcome=allowed', 'source=store')).toBe(saw(200));
      expect(counted('rule=narrow', 'place=GET /both', 'outcome=refused')).toBe(saw(429));
      expect(counted('rule=wide', 'outcome=allowed')).toBe(saw(200));
      expect(counted('rule=codes', 'place=name codes', 'outcome=allowed')).toBe(codes.filter(Boolean).length);
      expect(counted('rule=codes', 'outcome=refused')).toBe(codes.filter((allowed) => !allowed).length);
      expect(sum(decisions.values())).toBe(20 + 80 + 20 + 10);
      const near = ofPrometheus('floodgate_near_limit_decisions_total');
      expect(Object.fromEntries(near)).toEqual({
        'place=GET /both rule=narrow': 5,
        'place=name codes rule=codes': 1,
      });
      const durations = [...ofPrometheus('floodgate_decision_duration_seconds')];
      expect(sum(durations.flatMap(([name, value]) => (name.startsWith('_count') ? [value] : [])))).toBe(
        sum(decisions.values()),
      );

      expect(ofOpenTelemetry('floodgate.decisions')).toEqual(decisions);
      expect(ofOpenTelemetry('floodgate.near_limit.decisions')).toEqual(near);
      expect(ofOpenTelemetry('floodgate.decision.duration')).toEqual(new Map(durations));
    });
  });

  it('tell how the store does when they are read', async () => {
    const store = new FailingStore();
    const { get } = await start({ store });
    const told = async () => {
      const ofPrometheus = await scraped();
      const ofOpenTelemetry = await exported();
      const gauges = ['available', 'circuit_state', 'latency_seconds'].map((name) =>
        ofPrometheus(`floodgate_store_${name}`),
      );
      const names = ['floodgate.store.available', 'floodgate.store.circuit.state', 'floodgate.store.latency'];
      expect(names.map(ofOpenTelemetry)).toEqual(gauges);
      const [available, circuit, latency] = gauges;
      return { available: available?.get(''), circuit: Object.fromEntries(circuit!), latency: latency?.get('') };
    };
    const closed = { 'state=closed': 1, 'state=open': 0, 'state=half-open': 0 };
    expect(await told()).toEqual({ available: 1, circuit: closed, latency: undefined });

    await get('/both');
    const { latency } = await told();
    expect(latency).toBeGreaterThan(0);
    expect(latency).toBeLessThan(1);

    store.failure = 'loading';
    await get('/both');
    expect(await told()).toMatchObject({ available: 0 });
    const failures = (await scraped())('floodgate_store_failures_total');
    expect([failures.get('kind=loading'), sum(failures.values())]).toEqual([1, 1]);
    expect((await exported())('floodgate.store.failures')).toEqual(failures);
  });

  it('have units, descriptions and the scope of the library', async () => {
    const { get } = await start();
    await get('/both');
    const all = await meters.collect();
    expect(all.get('floodgate.decisions')).toMatchObject({
      unit: '{decision}',
      scope: 'nestjs-floodgate',
      description: expect.stringMatching(/^Decisions: one for each rule/),
    });
    expect(all.get('floodgate.decision.duration')).toMatchObject({ unit: 's' });
    const family = parsePrometheusText(await registry.metrics()).get('floodgate_decisions_total');
    expect(family).toMatchObject({ type: 'counter', help: all.get('floodgate.decisions')!.description });
  });

  it('can be scraped in the OpenMetrics format too', async () => {
    const openMetrics = new Registry<OpenMetricsContentType>();
    openMetrics.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
    const { get } = await startApp('express', {
      controllers: [CountedController],
      imports: (limits) => [limits, RateLimitPrometheusModule.forRoot({ registry: openMetrics })],
    });
    await get('/both');
    const text = await openMetrics.metrics();
    expect(text).toContain('# TYPE floodgate_decisions counter\n');
    expect(text).toContain(
      'floodgate_decisions_total{rule="wide",place="GET /both",outcome="allowed",source="store"} 1\n',
    );
  });

  it('go to the global registry and provider where none is given', async () => {
    metrics.setGlobalMeterProvider(meters.provider);
    try {
      const { get } = await startApp('express', {
        controllers: [CountedController],
        imports: (limits) => [limits, RateLimitPrometheusModule, RateLimitOpenTelemetryModule],
      });
      await get('/both');
      expect(sum((await scraped(register))('floodgate_decisions_total').values())).toBe(2);
      expect(sum((await exported())('floodgate.decisions').values())).toBe(2);
    } finally {
      metrics.disable();
      register.clear();
    }
  });

  it('take options from a factory', async () => {
    const { get } = await startApp('express', {
      controllers: [CountedController],
      imports: (limits) => [
        limits,
        RateLimitPrometheusModule.forRootAsync({ useFactory: () => ({ registry }) }),
        RateLimitOpenTelemetryModule.forRootAsync({ useFactory: () => ({ meterProvider: meters.provider }) }),
      ],
    });
    await get('/both');
    expect(sum((await scraped())('floodgate_decisions_total').values())).toBe(2);
    expect(sum((await exported())('floodgate.decisions').values())).toBe(2);
  });

  it('escape what a place has in it', async () => {
    const { get } = await start(undefined, 'fastify');
    await get('/odd%22');
    const names = [...(await scraped())('floodgate_decisions_total').keys()];
    expect(names).toContain('outcome=allowed place=GET /odd" rule=odd source=store');
  });

  it('count rules that are made up as the application runs together, after the first thousand', async () => {
    const { app, get } = await start();
    const limiter = app.get(RateLimiter);
    for (let i = 0; i < 1_010; i++) await limiter.consume({ name: `made-up-${i}`, limit: 1 }, 'x');
    await get('/both');
    const decisions = (await scraped())('floodgate_decisions_total');
    expect(decisions.size).toBe(1_000 + 1 + 2);
    expect(decisions.get('outcome=allowed place=other rule=other source=store')).toBe(10);
    expect(decisions.get('outcome=allowed place=GET /both rule=wide source=store')).toBe(1);
  });

  describe('of two applications of one process', () => {
    it('add up, and a store is told as available when both are', async () => {
      const failing = new FailingStore();
      const first = await start({ store: failing });
      const second = await start();
      failing.failure = 'loading';
      await first.get('/both');
      await second.get('/both');

      const ofPrometheus = await scraped();
      const decisions = ofPrometheus('floodgate_decisions_total');
      expect(decisions.get('outcome=fallback-allowed place=GET /both rule=wide source=local')).toBe(1);
      expect(decisions.get('outcome=allowed place=GET /both rule=wide source=store')).toBe(1);
      expect((await exported())('floodgate.decisions')).toEqual(decisions);
      const available = async () => [
        (await scraped())('floodgate_store_available').get(''),
        (await exported())('floodgate.store.available').get(''),
      ];
      expect(await available()).toEqual([0, 0]);
      expect(ofPrometheus('floodgate_store_circuit_state').get('state=closed')).toBe(2);

      await first.close();
      expect(await available()).toEqual([1, 1]);
      await second.get('/both');
      expect(
        (await scraped())('floodgate_decisions_total').get('outcome=allowed place=GET /both rule=wide source=store'),
      ).toBe(2);
      await second.close();
      // The SDK goes on telling the last value that it read.
      expect((await available())[0]).toBeUndefined();
    });

    it('stay when an application closes, and go on with the next', async () => {
      const first = await start();
      await first.get('/both');
      await first.close();
      const second = await start();
      await second.get('/both');
      const decisions = (await scraped())('floodgate_decisions_total');
      expect(decisions.get('outcome=allowed place=GET /both rule=wide source=store')).toBe(2);
      expect((await exported())('floodgate.decisions')).toEqual(decisions);
    });

    it('begin anew in a registry that was cleared', async () => {
      await start();
      registry.clear();
      const { get } = await start();
      await get('/both');
      expect(sum((await scraped())('floodgate_decisions_total').values())).toBe(2);
    });
  });

  it('count once in an application that imports a module twice', async () => {
    const { get, close } = await startApp('express', {
      controllers: [CountedController],
      imports: (limits) => [...imports(limits), ...imports(limits).slice(1)],
    });
    await get('/both');
    const decisions = (await scraped())('floodgate_decisions_total');
    expect(sum(decisions.values())).toBe(2);
    expect((await exported())('floodgate.decisions')).toEqual(decisions);
    await close();
  });

  it('harm no request, whatever the registry does', async () => {
    const logger = new LogLines();
    const { statuses } = await startApp('express', { controllers: [CountedController], imports, logger });
    const counter = registry.getSingleMetric('floodgate_decisions_total') as unknown as { inc: () => never };
    counter.inc = () => {
      throw new Error('no room');
    };
    expect(await statuses(21, '/both')).toEqual([...Array<number>(20).fill(200), 429]);
    expect(logger.matching(/RateLimiter\.decisions\$ failed: "?Error: no room/)).not.toHaveLength(0);
  });

  describe('fail the start', () => {
    const startWith = (module: NonNullable<ReturnType<typeof imports>>[number]) =>
      startApp('express', { imports: (limits) => [limits, module] });

    it.each([
      ['of another kind', Gauge, ['rule', 'place', 'outcome', 'source']],
      ['with other labels', Counter, ['rule']],
    ])('of an application that has a metric of its own by the same name, %s', async (_, Metric, labelNames) => {
      // oxlint-disable-next-line no-new
      new Metric({ name: 'floodgate_decisions_total', help: 'mine', labelNames, registers: [registry] });
      await expect(start()).rejects.toThrow(
        'RateLimitPrometheusModule: the registry has another metric named floodgate_decisions_total: rename it',
      );
    });

    it.each([
      [{ register }, /RateLimitPrometheusModule: register is no option \(registry\)/],
      [
        { registry: 'default' },
        /RateLimitPrometheusModule: option registry must be a Registry of prom-client, got "default"/,
      ],
      [{ registry: null }, /RateLimitPrometheusModule: option registry must be a Registry of prom-client, got null/],
      [{ registry: {} }, /RateLimitPrometheusModule: option registry must be a Registry of prom-client, got \{\}/],
    ])('with faulty options of Prometheus: %#', async (options, message) => {
      await expect(startWith(RateLimitPrometheusModule.forRoot(options as object))).rejects.toThrow(message);
    });

    it.each([
      [{ provider: 1 }, /RateLimitOpenTelemetryModule: provider is no option \(meterProvider\)/],
      [
        { meterProvider: {} },
        /RateLimitOpenTelemetryModule: option meterProvider must be a MeterProvider of OpenTelemetry, got \{\}/,
      ],
    ])('with faulty options of OpenTelemetry: %#', async (options, message) => {
      await expect(startWith(RateLimitOpenTelemetryModule.forRoot(options as object))).rejects.toThrow(message);
    });
  });
});
