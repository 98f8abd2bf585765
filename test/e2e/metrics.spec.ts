import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Type } from '@nestjs/common';
import { Redis } from 'ioredis';
import { RateLimiter } from 'nestjs-floodgate';
import { RateLimitOpenTelemetryModule } from 'nestjs-floodgate/opentelemetry';
import { register } from 'prom-client';
import { eventually } from '../support/eventually.ts';
import { dashboardQueries } from '../support/grafana.ts';
import { Meters, type ExportedMetric } from '../support/meters.ts';
import { exportedSeries, scrapedSeries } from '../support/metrics-of-both.ts';
import { PLATFORMS, startApp, type Answer, type TestApp } from '../support/nest-app.ts';
import { parsePrometheusText, type Family, type Sample } from '../support/prometheus-text.ts';
import { isMatch, parsePromql } from '../support/promql.ts';
import { startRedisServer, type RedisServer } from '../support/redis-server.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

type Families = ReadonlyMap<string, Family>;
type Rule = (typeof RULES)[number];

const RULES = ['exports', 'reads', 'codes'] as const;

/** What the clients of each rule saw. */
class Seen {
  readonly admitted: Record<Rule, number> = { exports: 0, reads: 0, codes: 0 };
  readonly refused: Record<Rule, number> = { exports: 0, reads: 0, codes: 0 };
  /** Requests that were admitted with a fifth of the limit left or less, by the rule that binds most. */
  nearLimit = 0;

  /** A request that these rules limit: admitted by all of them, or refused by the one that the answer names. */
  request({ status, headers, json }: Answer, rules: readonly Rule[]): void {
    if (status === 429) {
      this.refused[(json as { rule: Rule }).rule]++;
      return;
    }
    for (const rule of rules) this.admitted[rule]++;
    if (Number(headers.get('x-ratelimit-remaining')) <= Number(headers.get('x-ratelimit-limit')) / 5) this.nearLimit++;
  }

  code({ json }: Answer): void {
    this[(json as { sent: boolean }).sent ? 'admitted' : 'refused'].codes++;
  }
}

/** Sums the samples of a family that have these labels. */
const sumOf = (families: Families, name: string, has: (labels: Sample['labels']) => boolean = () => true): number =>
  families.get(name)!.samples.reduce((sum, { labels, value }) => sum + (has(labels) ? value : 0), 0);

describe('the metrics of the example application', () => {
  let server: RedisServer;
  let redis: Redis;
  let proxy: TcpProxy;
  let AppModule: Type;

  beforeAll(async () => {
    // It may evict keys, which Floodgate warns of.
    server = await startRedisServer({ args: ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'] });
    redis = new Redis(server.url);
    proxy = await startTcpProxy(server.port);
    process.env.REDIS_URL = proxy.url;
    ({ AppModule } = await import('../../examples/metrics/app.module.ts'));
  });
  afterAll(async () => {
    delete process.env.REDIS_URL;
    await redis.quit();
    await proxy.stop();
    await server.stop();
  });

  describe.each(PLATFORMS)('on %s', (platform) => {
    let app: TestApp;
    let meters: Meters;
    const before = new Seen();
    const outage = new Seen();
    const after = new Seen();
    /** What was scraped at the end of each. */
    const scraped: { before?: Families; outage?: Families; after?: Families } = {};
    let exported: ReadonlyMap<string, ExportedMetric>;

    const scrape = async (): Promise<Families> => parsePrometheusText((await app.call('GET', '/metrics')).text);
    const times = async (count: number, act: () => Promise<void>): Promise<void> => {
      for (let i = 0; i < count; i++) await act();
    };
    const askForCode = (seen: Seen, phone: string) => async () => seen.code(await app.call('POST', `/codes/${phone}`));
    const read = (seen: Seen) => async () => seen.request(await app.call('GET', '/articles'), ['reads']);
    const exportArticle = (seen: Seen) => async () =>
      seen.request(await app.call('GET', '/articles/7/export'), ['exports', 'reads']);

    beforeAll(async () => {
      register.clear();
      await redis.flushall();
      meters = new Meters();
      const metrics = RateLimitOpenTelemetryModule.forRoot({ meterProvider: meters.provider });
      app = await startApp({ module: class Root {}, imports: [AppModule, metrics] }, platform);

      await times(7, exportArticle(before));
      await times(20, read(before));
      await times(5, askForCode(before, 'phone-of-alice'));
      scraped.before = await scrape();

      await proxy.refuse();
      await times(45, read(outage));
      await times(5, askForCode(outage, 'phone-of-bob'));
      scraped.outage = await scrape();

      await redis.flushall();
      await proxy.heal();
      const isBack = () => app.app.get(RateLimiter).health().state === 'available';
      await eventually(async () => (await askForCode(after, 'phone-of-carol')(), isBack()), 20_000);
      await times(5, askForCode(after, 'phone-of-carol'));
      scraped.after = await scrape();
      exported = await meters.collect();
    }, 60_000);
    afterAll(async () => {
      await app.close();
      await meters.stop();
      register.clear();
    });

    it('agree with what the clients saw, to the request', () => {
      const some = [before.refused.exports, before.refused.codes, outage.refused.reads, outage.refused.codes];
      for (const refused of some) expect(refused).toBeGreaterThan(0);
      const all = [before, outage, after];
      for (const rule of RULES) {
        const counted = (outcome: RegExp): number =>
          sumOf(
            scraped.after!,
            'floodgate_decisions_total',
            (labels) => labels['rule'] === rule && outcome.test(labels['outcome']!),
          );
        expect([rule, counted(/allowed$/), counted(/refused$/)]).toEqual([
          rule,
          all.reduce((sum, { admitted }) => sum + admitted[rule], 0),
          all.reduce((sum, { refused }) => sum + refused[rule], 0),
        ]);
      }
    });

    it('tell the decisions of an outage apart, and who made them', () => {
      const inOutage = (outcome: string): number => {
        const has = (labels: Sample['labels']) => labels['outcome'] === outcome && labels['source'] === 'local';
        const [end, start] = [scraped.outage!, scraped.before!];
        return sumOf(end, 'floodgate_decisions_total', has) - sumOf(start, 'floodgate_decisions_total', has);
      };
      expect(inOutage('fallback-allowed')).toBe(outage.admitted.reads + outage.admitted.codes);
      expect(inOutage('fallback-refused')).toBe(outage.refused.reads + outage.refused.codes);
    });

    it('count what came near the limit', () => {
      const near = sumOf(scraped.after!, 'floodgate_near_limit_decisions_total', ({ rule }) => rule !== 'codes');
      expect(near).toBeGreaterThan(0);
      expect(near).toBe(before.nearLimit + outage.nearLimit);
    });

    it('tell how the store did', () => {
      const available = ({ before: first, outage: second, after: third } = scraped) =>
        [first, second, third].map((families) => sumOf(families!, 'floodgate_store_available'));
      expect(available()).toEqual([1, 0, 1]);
      const state = (families: Families) =>
        families
          .get('floodgate_store_circuit_state')!
          .samples.flatMap(({ labels, value }) => (value ? [labels['state']] : []));
      expect([state(scraped.before!), state(scraped.after!)]).toEqual([['closed'], ['closed']]);
      expect(state(scraped.outage!)).toHaveLength(1);
      expect(sumOf(scraped.after!, 'floodgate_store_latency_seconds')).toBeGreaterThan(0);
      const failures = (families: Families) => sumOf(families, 'floodgate_store_failures_total');
      expect(failures(scraped.outage!)).toBeGreaterThan(failures(scraped.before!));
      expect(sumOf(scraped.after!, 'floodgate_store_memory_losses_total', ({ extent }) => extent === 'all')).toBe(1);
      expect(scraped.after!.get('floodgate_warnings_total')!.samples).toEqual([
        { name: 'floodgate_warnings_total', labels: { code: 'FLOODGATE_EVICTING_REDIS' }, value: 1 },
      ]);
    });

    it('are the same of Prometheus and of OpenTelemetry', () => {
      const names = [...exported].filter(([name]) => name.startsWith('floodgate.')).map(([name]) => name);
      expect(names).toHaveLength(10);
      for (const name of names) {
        const metric = exported.get(name)!;
        const family = [...scraped.after!.values()].find(({ help }) => help === metric.description)!;
        expect([name, exportedSeries(metric)]).toEqual([name, scrapedSeries(family)]);
      }
      expect(names).toHaveLength(scraped.after!.size);
    });

    it('take each decision’s time once', () => {
      const { samples } = scraped.after!.get('floodgate_decision_duration_seconds')!;
      const counts = samples.filter(({ name }) => name.endsWith('_count'));
      for (const { labels, value } of counts) {
        expect(value).toBe(
          sumOf(scraped.after!, 'floodgate_decisions_total', ({ source }) => source === labels['source']),
        );
      }
      expect(counts.map(({ labels }) => labels['source'])).toEqual(expect.arrayContaining(['store', 'local']));
    });

    it('have no label of a client', async () => {
      const { text } = await app.call('GET', '/metrics');
      for (const secret of ['phone-of-', '127.0.0.1']) expect(text).not.toContain(secret);
    });

    it('are what the Grafana dashboard asks for', () => {
      const samples = [...scraped.after!.values()].flatMap((family) => family.samples);
      const queries = dashboardQueries('examples/metrics/grafana-dashboard.json');
      expect(queries.length).toBeGreaterThan(10);
      for (const { title, query, legend } of queries) {
        const { selectors, groupedBy } = parsePromql(query);
        const asked = selectors.map(({ metric, matchers }) => {
          const found = samples.filter(
            ({ name, labels }) => name === metric && matchers.every((matcher) => isMatch(matcher, labels)),
          );
          expect([title, query, found.length]).not.toEqual([title, query, 0]);
          return found[0]!;
        });
        for (const label of [...groupedBy, ...legend]) {
          for (const { labels } of asked) expect([title, query, ...Object.keys(labels)]).toContain(label);
        }
        for (const label of legend) {
          expect([title, ...groupedBy]).toContain(label);
        }
      }
    });
  });
});
