import { describe, expect, it, jest } from '@jest/globals';
import type { Charge } from '../../src/core/charge.ts';
import { mergeCharges } from '../../src/core/charge.ts';
import { encodeCall, parsePeek, parseReply, type Asked, type ServerMoment } from '../../src/redis/script-calls.ts';
import { charge } from '../contract/store-contract.ts';

const NOW = 1_700_000_000_000_000; // microseconds
const BEGAN = NOW - 5;
const noDecision = expect.objectContaining({ name: 'StoreUnavailableError', kind: 'unknown' });

const requestsOf = (...charges: readonly Charge[]) =>
  charges.map((each, i): Asked => ({ request: { id: `c${i}`, charges: [each] }, logs: mergeCharges([each]) }));

describe('a call of the script', () => {
  it('says once what several requests have in common', () => {
    const [narrow, wide] = [charge({ limit: 1 }), charge({ limit: 9, cost: 2 })];
    const call = encodeCall(requestsOf(narrow, wide, narrow), ({ key }) => key);
    expect(call.keys).toEqual([narrow.key, wide.key, narrow.key]);
    expect(call.args).toEqual([2, '1 1000 1 exact', '9 1000 2 exact', 'c0', 1, 'c1', 2, 'c2', 1]);
  });

  it('names the layout that each charge asks for', () => {
    const charges = [charge({ limit: 128 }), charge({ limit: 129 }), charge({ limit: 129, layout: 'exact' })];
    const { args } = encodeCall([{ request: { id: 'a', charges }, logs: mergeCharges(charges) }], ({ key }) => key);
    expect(args).toEqual([1, '128 1000 1 exact 129 1000 1 compact 129 1000 1 exact', 'a', 1]);
  });
});

describe('the reply of the script', () => {
  const [open, full] = [charge({ limit: 3 }), charge({ limit: 1 })];
  const requests = requestsOf(open, full);

  it.each([
    ['numbers', [1, 2, 0, 0, 900, 400, NOW, BEGAN]],
    ['texts of numbers', ['1', '2', '0', '0', '900', '400', String(NOW), String(BEGAN)]],
  ])('is read from %s', (_, reply) => {
    expect(parseReply(reply, requests)).toMatchObject([
      { allowed: true, id: 'c0', budgets: [{ remaining: 2, resetAfterMs: 1_000 }], receipt: String(NOW) },
      { allowed: false, retryAfterMs: 400, refusedBy: [{ key: full.key, resetAfterMs: 900 }] },
    ]);
  });

  it('tells when it was, and how old the memory of the server is', () => {
    const told = jest.fn((_moment: ServerMoment) => 7);
    const [decision] = parseReply([1, 2, 0, 0, 900, 400, NOW, BEGAN], requests, told);
    expect(told).toHaveBeenCalledWith({ decidedAt: NOW, began: BEGAN });
    expect(decision).toMatchObject({ allowed: true, memoryAgeMs: 7 });
  });

  it('has no receipt for a call that was admitted before, since its moment is not told', () => {
    const decisions = parseReply([2, 2, 900, 0, NOW, BEGAN], requestsOf(open));
    expect(decisions).toEqual([{ allowed: true, id: 'c0', budgets: [{ ...open, remaining: 2, resetAfterMs: 900 }] }]);
  });

  it('tells of a compact log that is admitted to when its slice leaves', () => {
    const large = charge({ limit: 500 });
    const decisions = parseReply([1, 499, NOW + 1, BEGAN], requestsOf(large));
    expect(decisions).toMatchObject([{ allowed: true, budgets: [{ remaining: 499, resetAfterMs: 1_010 }] }]);
  });

  it('tells the error of a request in its place', () => {
    const decisions = parseReply(['WRONGTYPE of its own', 2, 0, 900, 0, NOW, BEGAN], requests);
    expect(decisions).toMatchObject(['WRONGTYPE of its own', { allowed: true, id: 'c1' }]);
  });

  it.each<[string, unknown]>([
    ['no list', 'OK'],
    ['nothing', null],
    ['an empty list', []],
    ['only its moment', [NOW, BEGAN]],
    ['a verdict that is none', [3, 2, 900, 0, 0, 0, 900, 400, NOW, BEGAN]],
    ['an empty verdict', ['', 1, 0, NOW, BEGAN]],
    ['a refusal that no log has a reason for', [1, 2, 0, 1, 900, 0, NOW, BEGAN]],
    ['one answer too few', [1, 2, NOW, BEGAN]],
    ['one answer too many', [1, 2, 1, 0, 1, 0, NOW, BEGAN]],
    ['a text for what is left', [1, 'two', 1, 0, NOW, BEGAN]],
    ['nothing for what is left', [1, null, 1, 0, NOW, BEGAN]],
    ['no moment', [1, 2, 1, 0, 'now', BEGAN]],
    ['no epoch', [1, 2, 1, 0, NOW, 'once']],
  ])('is no decision when it is %s', (_, reply) => {
    expect(() => parseReply(reply, requests)).toThrow(noDecision);
  });

  it.each([
    ['that admits what a log refuses', [1, 0, 900, 400]],
    ['that refuses what every log admits', [0, 2, 900, 0]],
    ['of more logs', [1, 2, 900, 0, 0]],
    ['of fewer logs', [1]],
  ])('is no decision when it is a preview %s', (_, reply) => {
    expect(() => parsePeek(reply, [open], mergeCharges([open]))).toThrow(noDecision);
  });
});
