import { describe, expect, it } from '@jest/globals';
import { judge } from './verdict.ts';
import type { Visit } from './visit.ts';
import { visit } from './visits.ts';

const times = (count: number, make: (i: number) => Visit): readonly Visit[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** Every limit is reached, and none is exceeded: the bot has 3 of 10 orders. */
const FULL_SALE: readonly Visit[] = [
  ...times(5, (i) => visit(i, { kind: 'log-in', customer: 'guesser', address: '198.51.100.99' })),
  ...times(3, (i) => visit(10 + i, { customer: 'bot' })),
  ...times(7, (i) => visit(20 + i)),
];
const faultsOf = (...others: readonly Visit[]): readonly string[] => judge([...FULL_SALE, ...others]).faults;
const refused = (at: number, parts: Partial<Visit> = {}): Visit => visit(at, { outcome: 'refused', ...parts });

describe('The verdict', () => {
  it('is that the promise held when each limit was reached and none exceeded', () => {
    const { faults, findings } = judge([...FULL_SALE, refused(50)]);

    expect(faults).toEqual([]);
    expect(findings.map(({ most, promise }) => [most, promise.limit])).toEqual([
      [10, 10],
      [3, 3],
      [5, 5],
    ]);
  });

  it('allows the place of an admission to be taken again one window later', () => {
    expect(faultsOf(visit(10_010))).toEqual([]);
  });

  it('finds one order too many', () => {
    expect(faultsOf(visit(9_900))).toEqual(['11 orders of all customers were admitted within 10 s; the limit is 10.']);
  });

  it('finds one order too many of one customer', () => {
    expect(faultsOf(visit(9_999, { customer: 'bot' }))).toContain(
      '4 orders of one customer were admitted within 10 s; the limit is 3.',
    );
  });

  it('finds one log-in too many from one address, whoever it was', () => {
    expect(faultsOf(visit(9_000, { kind: 'log-in', address: '198.51.100.99' }))).toEqual([
      '6 log-ins from one address were admitted within 10 s; the limit is 5.',
    ]);
  });

  it('does not take slow answers for a breach: the decisions may have been a window apart', () => {
    const slow = [visit(5, { sentAt: 5, answeredAt: 60 }), ...times(9, (i) => visit(100 + i))];
    const early = visit(9_990, { sentAt: 9_980, answeredAt: 10_040 });

    expect(judge([...slow, early]).findings[0]!.most).toBeLessThanOrEqual(10);
  });

  it('finds a refusal for which there was room', () => {
    expect(faultsOf(refused(10_100))).toEqual(['Requests refused although there was room for them: 1.']);
  });

  it('does not find room that a request without a decision may have taken', () => {
    const undecided = visit(9_000, { outcome: 'undecided' });

    expect(faultsOf(...times(10, () => undecided), refused(10_100))).toEqual([]);
  });

  it('finds answers that are neither yes nor no', () => {
    expect(faultsOf(visit(50, { outcome: 'failed', answer: 'status 500' }))).toEqual([
      'Requests answered with neither yes nor no: 1 (status 500).',
    ]);
  });

  it('does not hold where a limit was never reached', () => {
    expect(judge([]).faults).toContain(
      'Only 0 orders of all customers were admitted at all: the limit of 10 was not tried.',
    );
  });
});
