import type { ExecutionContext } from '@nestjs/common';
import type { HeaderFields } from './rate-limit-headers.ts';

/** Where a request comes from and how an answer leaves. */
export interface Transport {
  /** Called once, before the first request can arrive. */
  start(): void;
  /** Whether this transport carries the request. Others pass through untouched. */
  carries(context: ExecutionContext): boolean;
  /** The client's address as the transport reports it, if it has one. */
  addressOf(context: ExecutionContext): string | undefined;
  /** The authenticated user as the application left it on the request, if it did. */
  userOf(context: ExecutionContext): unknown;
  /** Keeps the answer out of caches (RFC 6585, section 4), if the application has not said anything of caching. */
  forbidCaching(context: ExecutionContext): void;
  /**
   * Tells what becomes of the answer: its status once it was sent whole, undefined when the client left before. The
   * first word counts; there may be none.
   */
  followAnswer(context: ExecutionContext, answered: (status: number | undefined) => void): void;
  /** Adds header fields to the answer. */
  publish(context: ExecutionContext, fields: HeaderFields): void;
  /** Takes header fields off the answer again. */
  withdraw(context: ExecutionContext, names: readonly string[]): void;
}
