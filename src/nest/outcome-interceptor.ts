import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { tap, type Observable } from 'rxjs';
import type { PendingOutcome } from './pending-outcome.ts';

/**
 * Whose outcome is waited for, by the request: guards and interceptors get arguments arrays of their own. A request
 * that one handler passes on to the next is that of the last.
 */
const pending = new WeakMap<object, PendingOutcome>();

/** Has the interceptor of this request tell what becomes of its handler. */
export function tellOutcome(context: ExecutionContext, outcome: PendingOutcome): void {
  pending.set(context.getArgByIndex<object>(0), outcome);
}

/**
 * Stands nearest to the handlers that have a rule which counts by outcome, so that it sees what they and their pipes
 * throw, whatever others make of it. One for all applications of the process.
 */
export const outcomeInterceptor: NestInterceptor = {
  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    const outcome = pending.get(context.getArgByIndex<object>(0));
    if (!outcome) return next.handle();
    let isWhole = false;
    outcome.reached();
    return next.handle().pipe(
      tap({
        next: (value) => {
          isWhole = value !== undefined && !isStream(value);
        },
        error: (error: unknown) => outcome.failed(error),
        complete: () => outcome.succeeded(isWhole),
      }),
    );
  },
};

/** What is sent piece by piece: streams of Node, StreamableFile, those of the Web and their responses, and generators. */
const isStream = (value: unknown): boolean =>
  isObject(value) && (hasPieces(value) || (isObject(value.body) && hasPieces(value.body)));

/** By methods, since data may have members of these names. */
const hasPieces = (value: Members): boolean =>
  ['pipe', 'getStream', 'getReader', Symbol.asyncIterator].some((name) => typeof value[name] === 'function');

type Members = Readonly<Record<string | symbol, unknown>>;

const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null;
