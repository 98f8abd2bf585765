import { describe, expect, it } from '@jest/globals';
import { UnauthorizedException } from '@nestjs/common';
import type { Outcome } from '../../src/nest/outcome.ts';
import { PendingOutcome } from '../../src/nest/pending-outcome.ts';

const error = new UnauthorizedException();

/** What happens to a request, in words of the table. */
const EVENTS: Readonly<Record<string, (outcome: PendingOutcome) => void>> = {
  reached: (outcome) => outcome.reached(),
  value: (outcome) => outcome.succeeded(true),
  stream: (outcome) => outcome.succeeded(false),
  error: (outcome) => outcome.failed(error),
  plainError: (outcome) => outcome.failed('broken'),
  sent200: (outcome) => outcome.answered(200),
  sent399: (outcome) => outcome.answered(399),
  sent400: (outcome) => outcome.answered(400),
  left: (outcome) => outcome.answered(undefined),
};

describe('the outcome of a request', () => {
  it.each<[string, string, readonly Outcome[]]>([
    ['a handler that gave a value', 'reached value sent200 left', [{ failed: false, status: 200 }]],
    ['a handler that gave a stream which was sent whole', 'reached stream sent200', [{ failed: false, status: 200 }]],
    ['a handler that redirects', 'reached value sent399', [{ failed: false, status: 399 }]],
    ['a handler that answered itself before it ended', 'reached sent200 stream', [{ failed: false, status: 200 }]],
    ['a handler that answered, and failed then', 'reached sent200 error', [{ failed: true, status: 200, error }]],
    ['a handler that answered, and goes on', 'reached sent200 left', []],
    [
      'a handler that answered, and ended after the close',
      'reached sent200 left stream',
      [{ failed: false, status: 200 }],
    ],
    ['a status of 400', 'reached value sent400', [{ failed: true, status: 400 }]],
    ['a status of 400 before the handler ended', 'reached sent400', [{ failed: true, status: 400 }]],
    [
      'a status of 400 before the handler failed, which is told once',
      'reached sent400 error',
      [{ failed: true, status: 400 }],
    ],
    ['an error in an envelope', 'reached error sent200', [{ failed: true, status: 200, error }]],
    ['a handler that was not reached', 'sent200', [{ failed: true, status: 200 }]],
    [
      'a client that left before the handler gave a value',
      'left reached value',
      [{ failed: false, status: undefined }],
    ],
    ['a client that left before the value was sent', 'reached value left', [{ failed: false, status: undefined }]],
    ['a client that left before the handler failed', 'reached left error', [{ failed: true, status: 401, error }]],
    ['a client that left while the handler failed', 'reached error left', [{ failed: true, status: 401, error }]],
    [
      'a client that left, and an error without a status',
      'left reached plainError',
      [{ failed: true, status: undefined, error: 'broken' }],
    ],
    ['a client that left a stream', 'reached stream left', []],
    ['a client that left before the handler gave a stream', 'reached left stream', []],
    ['a client that left before the handler was reached', 'left', []],
    ['no answer yet', 'reached value', []],
    ['an error that nobody has answered yet', 'reached error', []],
  ])('%s: %s', (_, history, expected) => {
    const outcomes: Outcome[] = [];
    const pending = new PendingOutcome((outcome) => outcomes.push(outcome));
    for (const event of history.split(' ')) EVENTS[event]!(pending);
    expect(outcomes).toEqual(expected);
  });
});
