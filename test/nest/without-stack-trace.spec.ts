import { afterEach, describe, expect, test } from '@jest/globals';
import { withoutStackTrace } from '../../src/nest/without-stack-trace.ts';

const limit = Error.stackTraceLimit;

describe('an error made without a stack trace', () => {
  afterEach(() => {
    Object.defineProperty(Error, 'stackTraceLimit', { value: limit, writable: true, configurable: true });
  });

  test('says what it is and nothing of where it was made', () => {
    expect(withoutStackTrace(() => new TypeError('no')).stack).toBe('TypeError: no');
  });

  test('leaves later errors their traces, also when it could not be made', () => {
    const make = (): Error => {
      throw new RangeError('not made');
    };
    expect(() => withoutStackTrace(make)).toThrow('not made');
    expect(Error.stackTraceLimit).toBe(limit);
    expect(new Error('later').stack).toMatch(/\n\s+at /);
  });

  test('is made with one where the process does not let that be changed', () => {
    Object.defineProperty(Error, 'stackTraceLimit', { value: 10, writable: false });
    expect(withoutStackTrace(() => new TypeError('no')).stack).toMatch(/^TypeError: no\n\s+at /);
    expect(Error.stackTraceLimit).toBe(10);
  });
});
