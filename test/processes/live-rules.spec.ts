import { afterEach, describe, expect, it } from '@jest/globals';
import type { RuleStatus } from '../../src/index.ts';
import { startChild, type Child } from '../support/child.ts';
import { mostAdmittedInAnyWindow } from '../support/oracle.ts';
import { useRedis } from '../support/redis.ts';
import type { Load, Question } from './live-limiter.ts';

const redis = useRedis();
const SLOW = 90_000;

/** A rule as it was put in force: milliseconds of the machine's clock, which is that of Redis too. */
interface Change {
  readonly limit: number;
  readonly windowMs: number;
  readonly at: number;
}

let children: Child[] = [];
afterEach(async () => {
  await Promise.all(children.map((child) => child.stop()));
  children = [];
});

async function start(limit: number, windowMs: number): Promise<Child> {
  const env = { REDIS_URL: redis.url, KEY_PREFIX: redis.keyPrefix, LIMIT: String(limit), WINDOW: String(windowMs) };
  const child = await startChild(new URL('live-limiter.ts', import.meta.url), env);
  children.push(child);
  return child;
}

const ask = <Answer>(child: Child, question: Question): Promise<Answer> => child.ask<Answer>(question);
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('four processes under load while a rule is changed ten times', () => {
  it(
    'admit in no window more than the larger of the neighbouring limits, have the new rule within a second, and fail no call',
    async () => {
      const first = { limit: 20, windowMs: 400 };
      const [admin, ...limited] = await Promise.all(
        Array.from({ length: 5 }, () => start(first.limit, first.windowMs)),
      );
      const RULES = [
        { limit: 40, windowMs: 400 },
        { limit: 10, windowMs: 400 },
        { limit: 10, windowMs: 250 },
        { limit: 30, windowMs: 250 },
        { limit: 30, windowMs: 800 },
        { limit: 12, windowMs: 800 },
        { limit: 25, windowMs: 400 },
        { limit: 8, windowMs: 250 },
        { limit: 50, windowMs: 800 },
        { limit: 5, windowMs: 800 },
      ];
      const EVERY_MS = 1_100;
      const forMs = EVERY_MS * (RULES.length + 1) + 3_000;
      const loads = limited.map((child) => ask<Load>(child, { what: 'load', forMs, inFlight: 8 }));
      const changes: Change[] = [{ ...first, at: 0 }];
      for (const { limit, windowMs } of RULES) {
        await wait(EVERY_MS);
        changes.push({ limit, windowMs, at: Date.now() });
        await ask(admin!, { what: 'override', override: { limit, window: `${windowMs}ms` as '1ms' } });
      }
      const outcomes = await Promise.all(loads);
      expect(outcomes.flatMap(({ errors }) => errors)).toEqual([]);

      for (const { held } of outcomes) {
        expect(held.map(({ limit, windowMs }) => ({ limit, windowMs }))).toEqual([first, ...RULES]);
        changes.slice(1).forEach(({ at }, i) => expect(held[i + 1]!.from - at).toBeLessThan(1_000));
      }
      const admissions = outcomes.flatMap(({ admittedAt }) => admittedAt.map((at) => ({ at: at / 1_000, units: 1 })));
      expect(admissions.length).toBeGreaterThan(100);
      for (const [i, { windowMs, limit }] of changes.entries()) {
        // A rule is known everywhere when the last process has it, and its window is kept until it and the next have passed.
        const from = Math.max(...outcomes.map(({ held }) => held[i]!.from)) * (i === 0 ? 0 : 1);
        const next = changes[i + 1];
        const to = next ? next.at + Math.max(windowMs, next.windowMs) + 2_000 : Infinity;
        const isMeanwhile = (other: Change, j: number): boolean => {
          const after = changes[j + 1];
          const ends = after ? after.at + Math.max(other.windowMs, after.windowMs) + 2_000 : Infinity;
          return other.windowMs === windowMs && other.at < to && ends > from;
        };
        const largest = Math.max(limit, ...changes.filter(isMeanwhile).map((other) => other.limit));
        const within = admissions.filter(({ at }) => at >= from && at < to);
        expect(mostAdmittedInAnyWindow(within, windowMs)).toBeLessThanOrEqual(largest);
      }
      // And strictly, between a change of the limit and the next one: the larger of the two neighbours.
      for (const [i, { windowMs, limit, at }] of changes.entries()) {
        const before = changes[i - 1];
        if (before?.windowMs !== windowMs) continue;
        const to = changes[i + 1]?.at ?? Infinity;
        const within = admissions.filter((admission) => admission.at >= at - windowMs && admission.at < to);
        expect(mostAdmittedInAnyWindow(within, windowMs)).toBeLessThanOrEqual(Math.max(limit, before.limit));
      }
    },
    SLOW,
  );
});

describe('two processes of which one has another limit in its code', () => {
  it(
    'admit no more than the larger in any window',
    async () => {
      const [windowMs, smaller, larger] = [300, 10, 25];
      const both = await Promise.all([start(smaller, windowMs), start(larger, windowMs)]);
      const outcomes = await Promise.all(
        both.map((child) => ask<Load>(child, { what: 'load', forMs: 3_000, inFlight: 8 })),
      );
      expect(outcomes.flatMap(({ errors }) => errors)).toEqual([]);
      const admissions = outcomes.flatMap(({ admittedAt }) => admittedAt.map((at) => ({ at: at / 1_000, units: 1 })));
      expect(mostAdmittedInAnyWindow(admissions, windowMs)).toBeLessThanOrEqual(larger);
      expect(admissions.length).toBeGreaterThan(larger * 5);
    },
    SLOW,
  );

  it(
    'have one window while it is overridden, and a process that starts during a change judges the window before',
    async () => {
      const old = await start(10, 60_000);
      await ask(old, { what: 'override', override: { window: '30s' } });
      const young = await start(10, 30_000);
      expect(await ask<RuleStatus>(young, { what: 'rule' })).toMatchObject({ windowMs: 30_000, formerWindowsMs: [] });
      await ask(young, { what: 'override', override: { window: '20s' } });
      const youngest = await start(10, 30_000);
      const status = await ask<RuleStatus>(youngest, { what: 'rule' });
      expect(status).toMatchObject({ windowMs: 20_000, formerWindowsMs: [30_000], origin: 'rules', version: 2 });
      await ask(youngest, { what: 'override', override: null });
      expect(await ask<RuleStatus>(youngest, { what: 'rule' })).toMatchObject({ windowMs: 30_000, origin: 'code' });
    },
    SLOW,
  );
});
