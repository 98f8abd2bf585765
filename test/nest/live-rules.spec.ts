import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { OverrideValues } from '../../src/core/rule-override-store.ts';
import { MemoryStore } from '../../src/memory/memory-store.ts';
import { compileRule } from '../../src/nest/compile-rule.ts';
import { LiveRules } from '../../src/nest/live-rules.ts';
import type { RateLimitOptions } from '../../src/nest/rate-limit-options.ts';
import type { Rule } from '../../src/nest/rule.ts';
import { ruleConflicts } from '../../src/nest/rule-conflicts.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { mostAdmittedInAnyWindow, type Admission } from '../support/oracle.ts';

const standing = { writtenOn: 'CatsController.list', place: 'GET /cats' };
const compile = (options: RateLimitOptions, fault: (message: string) => void = () => undefined): Rule | undefined =>
  compileRule(options, standing, {}, fault);

/** Rules as they would be written, by their names. */
function written(...all: readonly RateLimitOptions[]) {
  const rules = new Map(all.map((options) => [compile(options)!, options]));
  return {
    rules: [...rules.keys()],
    named: (name: string) => [...rules.keys()].filter((rule) => rule.name === name),
    overridden: (rule: Rule, values: OverrideValues, fault: (message: string) => void) =>
      compile({ ...rules.get(rule), ...values }, fault),
    conflictsWith: (inPlaceOf: (rule: Rule) => Rule) => ruleConflicts([...rules.keys()].map(inPlaceOf)),
    follow: () => undefined,
  };
}

const change = (name: string, values?: OverrideValues) => new Map([[name, values]]);

describe('what holds of a rule', () => {
  const clock = new ManualClock(0);
  const start = (...all: readonly RateLimitOptions[]) => {
    const book = written(...all);
    return { live: new LiveRules(book, clock.now), rule: book.rules[0]! };
  };
  const when = (spreadMs = 0) => ({ at: clock.now(), spreadMs });
  const formersOf = (live: LiveRules, rule: Rule) =>
    live.of(rule)?.formers.map((former) => [former.rule.limit, former.rule.windowMs]);

  it('is the rule itself, of which nobody need ask, where nothing was changed', () => {
    const { live, rule } = start({ name: 'cats', limit: 5 });
    expect(live.size).toBe(0);
    expect(live.of(rule)).toBeUndefined();
    expect(live.valuesOf('cats')).toBeUndefined();
  });

  it('is another rule where one was put in its place, until that is cleared', () => {
    const { live, rule } = start({ name: 'cats', limit: 5 });
    expect(live.change(change('cats', { limit: 6 }), when()).size).toBe(0);
    expect(live.of(rule)).toMatchObject({ rule: { limit: 6, windowMs: 10_000, name: 'cats' }, formers: [] });
    live.change(change('cats'), when());
    expect(live.size).toBe(0);
  });

  it('is the same object while the same values are put in its place', () => {
    const { live, rule } = start({ name: 'cats', limit: 5 });
    live.change(change('cats', { limit: 6 }), when());
    const first = live.of(rule)?.rule;
    live.change(change('cats', { limit: 6 }), when());
    expect(live.of(rule)?.rule).toBe(first);
  });

  it('includes the rule before while its window is another, until the longer one and the spread have passed', () => {
    const { live, rule } = start({ name: 'cats', limit: 5, window: 10 });
    live.change(change('cats', { limit: 6, window: 4 }), when(2_000));
    clock.advance(11_999);
    expect(formersOf(live, rule)).toEqual([[5, 10_000]]);
    clock.advance(1);
    expect(formersOf(live, rule)).toEqual([]);
    live.change(change('cats'), when(2_000));
    clock.advance(12_000);
    expect(live.of(rule)).toBeUndefined();
    expect(live.size).toBe(0);
  });

  it('judges no window twice: of one window the last rule holds', () => {
    const { live, rule } = start({ name: 'cats', limit: 5, window: 10 });
    live.change(change('cats', { limit: 6, window: 4 }), when());
    live.change(change('cats', { limit: 7, window: 4 }), when());
    expect(live.of(rule)?.rule.limit).toBe(7);
    expect(formersOf(live, rule)).toEqual([[5, 10_000]]);
    live.change(change('cats', { limit: 8 }), when());
    expect(live.of(rule)?.rule.limit).toBe(8);
    expect(formersOf(live, rule)).toEqual([[7, 4_000]]);
  });

  it('never takes more than four windows: one more is a fault, and drops the one that ends first', () => {
    const { live, rule } = start({ name: 'cats', limit: 5, window: 10 });
    for (const window of [11, 12, 13]) {
      expect(live.faultsIn('cats', { window })).toEqual([]);
      live.change(change('cats', { window }), when());
    }
    expect(live.faultsIn('cats', { window: 14 })).toEqual([expect.stringContaining('4 windows')]);
    expect(live.faultsIn('cats', { window: 11 })).toEqual([]);
    live.change(change('cats', { window: 14 }), when());
    expect(formersOf(live, rule)?.map(([, windowMs]) => windowMs)).toEqual([13_000, 12_000, 11_000]);
  });

  it('stays what it was where a change has faults', () => {
    const { live, rule } = start({ name: 'cats', limit: 5 });
    live.change(change('cats', { limit: 6 }), when());
    const faults = live.change(change('cats', { limit: 7, window: 'soon' }), when());
    expect(faults.get('cats')).toEqual([expect.stringContaining('got "soon"')]);
    expect(live.of(rule)?.rule.limit).toBe(6);
    expect(live.valuesOf('cats')).toEqual({ limit: 6 });
  });

  it('keeps a window that is a function, since nobody knows how long it was', () => {
    const { live, rule } = start({ name: 'cats', limit: 5, window: () => 10 });
    expect(live.faultsIn('cats', { window: 5 })).toEqual([expect.stringContaining('window is a function')]);
    live.change(change('cats', { limit: 6 }), when());
    expect(live.of(rule)).toMatchObject({ rule: { limit: 6 }, formers: [] });
  });

  it('of a bucket changes its window with all its rules or not at all', () => {
    const ones = { bucket: 'box', limit: 5 };
    const { live, rule } = start({ ...ones, name: 'cats' }, { ...ones, name: 'dogs' }, { ...ones, name: 'dogs' });
    expect(live.faultsIn('cats', { window: 5 })).toEqual([expect.stringContaining('share the bucket box')]);
    expect(live.faultsIn('cats', { limit: 9 })).toEqual([]);
    const faults = live.change(change('dogs', { window: 5 }), when());
    expect([...faults.keys()]).toEqual(['dogs']);
    const both = new Map([...change('cats', { window: 5 }), ...change('dogs', { window: 5 })]);
    expect(live.change(both, when()).size).toBe(0);
    expect(live.of(rule)?.rule.windowMs).toBe(5_000);
    expect([...live.change(change('cats', { window: 6 }), when()).keys()]).toEqual(['cats']);
  });
});

type Step =
  { readonly wait: number } | { readonly calls: number } | { readonly limit: number; readonly windowMs: number };

const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ wait: fc.integer({ min: 1, max: 60 }) }) },
    { weight: 3, arbitrary: fc.record({ calls: fc.integer({ min: 1, max: 12 }) }) },
    fc.record({ limit: fc.integer({ min: 1, max: 8 }), windowMs: fc.constantFrom(20, 50, 100) }),
  ),
  { minLength: 10, maxLength: 60 },
);

/** A former window comes back with a lower limit, and goes again before the time of the former is over. */
const WINDOW_THAT_CAME_BACK: readonly Step[] = [
  { limit: 5, windowMs: 100 },
  { limit: 1, windowMs: 50 },
  { limit: 3, windowMs: 20 },
  { wait: 47 },
  { calls: 2 },
  { wait: 3 },
  { calls: 1 },
  { wait: 20 },
  { calls: 3 },
];

/** A time in which a window was judged by a limit, milliseconds. */
interface Span {
  readonly windowMs: number;
  readonly limit: number;
  readonly from: number;
  to: number;
}

describe('a rule that changes again and again', () => {
  it('keeps, in every window of every length, the largest limit that held for it meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (script: readonly Step[]) => {
        const clock = new ManualClock(1_000_000);
        const first = { name: 'cats', limit: 4, window: '50ms' } as const;
        const book = written(first);
        const live = new LiveRules(book, clock.now);
        const [rule] = book.rules;
        const store = new MemoryStore({ now: clock.now });
        const admissions: Admission[] = [];
        const spans: Span[] = [{ windowMs: 50, limit: 4, from: 0, to: Infinity }];
        let calls = 0;
        for (const step of script) {
          if ('wait' in step) clock.advance(step.wait);
          else if ('limit' in step) {
            const { limit, windowMs } = step;
            // So that a moment tells what came before the change.
            clock.advance(1);
            const last = spans.at(-1)!;
            const now = clock.now();
            // The limit before holds until the longer of the windows has passed, or for a window that is already running.
            last.to = now + Math.max(windowMs, last.windowMs);
            live.change(change('cats', { limit, window: `${windowMs}ms` }), { at: now, spreadMs: 0 });
            spans.push({ windowMs, limit, from: now, to: Infinity });
          } else {
            for (let i = 0; i < step.calls; i++) {
              const held = live.of(rule!) ?? { rule: rule!, formers: [] };
              const charges = [held.rule, ...held.formers.map((former) => former.rule)].map((each) => ({
                key: '{method:cats}',
                limit: each.limit as number,
                windowMs: each.windowMs as number,
                cost: 1,
              }));
              const decision = await store.consume({ id: `c${calls++}`, charges });
              if (decision.allowed) admissions.push({ at: clock.now(), units: 1 });
            }
          }
        }
        for (const { windowMs, from, to } of spans) {
          const within = admissions.filter(({ at }) => at >= from && at < to);
          const meanwhile = spans.filter((span) => span.windowMs === windowMs && span.from < to && span.to > from);
          const largest = Math.max(...meanwhile.map((span) => span.limit));
          expect(mostAdmittedInAnyWindow(within, windowMs)).toBeLessThanOrEqual(largest);
        }
      }),
      { numRuns: 300, examples: [[WINDOW_THAT_CAME_BACK]] },
    );
  });
});
