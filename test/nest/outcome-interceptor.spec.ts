import { describe, expect, it } from '@jest/globals';
import { StreamableFile, type CallHandler, type ExecutionContext } from '@nestjs/common';
import { lastValueFrom, of } from 'rxjs';
import { Readable } from 'node:stream';
import type { Outcome } from '../../src/nest/outcome.ts';
import { outcomeInterceptor, tellOutcome } from '../../src/nest/outcome-interceptor.ts';
import { PendingOutcome } from '../../src/nest/pending-outcome.ts';

/** What is known of a request whose client left, by what its handler gave. */
async function outcomesOf(value: unknown): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  const request = {};
  const context = { getArgByIndex: () => request } as unknown as ExecutionContext;
  const pending = new PendingOutcome((outcome) => outcomes.push(outcome));
  tellOutcome(context, pending);
  const handler: CallHandler = { handle: () => of(value) };
  await lastValueFrom(await outcomeInterceptor.intercept(context, handler));
  pending.answered(undefined);
  return outcomes;
}

async function* pieces() {
  yield 'a piece';
}

describe('when the client has left', () => {
  it.each<[string, unknown]>([
    ['an object', { ok: true }],
    ['a list', []],
    ['null', null],
    ['a text', 'done'],
    ['a post with a body', { title: 'On pipes', body: 'They carry water.' }],
    ['data with members that are named like those of streams', { pipe: 'DN 50', getReader: true, body: { pipe: 1 } }],
  ])('a handler that gave %s has succeeded', async (_, value) => {
    expect(await outcomesOf(value)).toEqual([{ failed: false, status: undefined }]);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a stream', Readable.from(['a piece'])],
    ['a file', new StreamableFile(Buffer.from('a piece'))],
    ['a stream of the Web', new Response('a piece').body],
    ['a response of the Web', new Response('a piece')],
    ['a generator', pieces()],
  ])('of a handler that gave %s, nothing is known', async (_, value) => {
    expect(await outcomesOf(value)).toEqual([]);
  });
});
