import { describe, expect, it } from '@jest/globals';
import { Subject } from 'rxjs';
import { StoreUnavailableError, type DecisionEvent, type RateLimiter, type StoreEvent } from 'nestjs-floodgate';
import { LABELS } from '../../src/metrics/instruments.ts';
import { Measures } from '../../src/metrics/measures.ts';
import type { RuleBook } from '../../src/nest/rule-book.ts';

/** What the measures of an application with these events are told to a metrics library, one line each. */
function watched() {
  const decisions = new Subject<DecisionEvent>();
  const storeEvents = new Subject<StoreEvent>();
  const lines: string[] = [];
  const limiter = { decisions$: decisions, storeEvents$: storeEvents } as unknown as RateLimiter;
  const line = (...parts: readonly unknown[]): void =>
    void lines.push(parts.map((part) => JSON.stringify(part)).join(' '));
  const measures = new Measures(limiter, { declared: [] } as unknown as RuleBook, {
    names: LABELS,
    add: (counter, value, labels) => line(counter, value, labels),
    recordDuration: (seconds, labels) => line(seconds, labels),
  });
  const fromZero = lines.splice(0);
  return { decisions, storeEvents, lines, fromZero, measures };
}

const DECISION: DecisionEvent = {
  rule: 'login',
  place: 'POST /login',
  outcome: 'allowed',
  source: 'store',
  limit: 10,
  cost: 1,
  remaining: 5,
  isNearLimit: false,
  latencyMs: 1.5,
  get identity(): string {
    throw new Error('identities are nobody’s business here');
  },
};

describe('the measures of an application', () => {
  it('count decisions and their time in seconds, and never look at identities', () => {
    const { decisions, lines } = watched();
    decisions.next(DECISION);
    const rule = '"floodgate.rule":"login","floodgate.place":"POST /login"';
    expect(lines).toEqual([
      `"decisions" 1 {${rule},"floodgate.outcome":"allowed","floodgate.source":"store"}`,
      '0.0015 {"floodgate.source":"store"}',
    ]);
  });

  it('count calls that come near the limit besides', () => {
    const { decisions, lines } = watched();
    Object.defineProperty(DECISION, 'identity', { enumerable: false });
    decisions.next({ ...DECISION, isNearLimit: true, identity: '' });
    expect(lines).toContain('"nearLimitDecisions" 1 {"floodgate.rule":"login","floodgate.place":"POST /login"}');
  });

  it('take outcomes and sources as they come, whatever they are one day', () => {
    const { decisions, lines } = watched();
    decisions.next({ ...DECISION, outcome: 'blocked', source: 'lease', identity: '' } as unknown as DecisionEvent);
    expect(lines[0]).toContain('"floodgate.outcome":"blocked","floodgate.source":"lease"');
    expect(lines).toHaveLength(2);
  });

  it.each<[StoreEvent, string]>([
    [
      { type: 'unavailable', error: new StoreUnavailableError('loading', 'loading') },
      '"storeFailures" 1 {"error.type":"loading"}',
    ],
    [{ type: 'forgot', extent: 'latest', message: '' }, '"memoryLosses" 1 {"floodgate.loss.extent":"latest"}'],
    [{ type: 'clock-stepped', byMs: 2_000 }, '"clockSteps" 1 {"floodgate.step.direction":"forward"}'],
    [{ type: 'clock-stepped', byMs: -2_000 }, '"clockSteps" 1 {"floodgate.step.direction":"backward"}'],
    [
      { type: 'warning', code: 'FLOODGATE_OLD_REDIS', message: '' },
      '"warnings" 1 {"floodgate.warning.code":"FLOODGATE_OLD_REDIS"}',
    ],
  ])('count what the store tells: %o', (event, line) => {
    const { storeEvents, lines } = watched();
    storeEvents.next(event);
    storeEvents.next({ type: 'available' });
    expect(lines).toEqual([line]);
  });

  it('begin with 0 for what may happen to any store, so that the first time shows as a rise', () => {
    const { fromZero } = watched();
    expect(fromZero).toHaveLength(14 + 3 + 2);
    expect(fromZero).toEqual(
      expect.arrayContaining([
        '"storeFailures" 0 {"error.type":"connection"}',
        '"memoryLosses" 0 {"floodgate.loss.extent":"all"}',
        '"clockSteps" 0 {"floodgate.step.direction":"backward"}',
      ]),
    );
  });

  it('end when they are stopped', () => {
    const { decisions, storeEvents, measures } = watched();
    measures.stop();
    expect([decisions.observed, storeEvents.observed]).toEqual([false, false]);
  });
});
