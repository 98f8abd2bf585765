import { HttpException, HttpStatus } from '@nestjs/common';
import type { Denied } from '../core/decision.ts';
import { retryAfterSeconds } from '../transports/rate-limit-headers.ts';

/** The body of a 429 where no filter makes another one. Says nothing of who was refused. */
export interface RateLimitExceptionBody {
  /** 429. */
  readonly statusCode: number;
  /** What HTTP calls the status. */
  readonly error: string;
  /** What the rule tells the client. */
  readonly message: string;
  /** The rule that refused, the one with the longest wait if several did. */
  readonly rule: string;
  /** Units that it admits in a window. */
  readonly limit: number;
  /** Seconds, as the header `Retry-After` says them; absent when no waiting helps. */
  readonly retryAfter?: number;
}

const plainBody = (decision: Denied, message: string, statusCode: number): RateLimitExceptionBody => {
  const [{ rule = '', limit }] = decision.refusedBy;
  const retryAfter = retryAfterSeconds(decision);
  return {
    statusCode,
    error: 'Too Many Requests',
    message,
    rule,
    limit,
    ...(retryAfter !== undefined && { retryAfter }),
  };
};

/** A rate limit refused the request: status 429, with the decision that says why and until when. */
export class RateLimitException extends HttpException {
  /**
   * @param decision what was decided. Its keys name the identity: do not send them to the client.
   * @param message what the client is told
   * @param body makes the response where no filter makes another one. @default {@link RateLimitExceptionBody}
   */
  constructor(
    readonly decision: Denied,
    message: string,
    body: (decision: Denied, message: string, status: number) => object = plainBody,
  ) {
    super(body(decision, message, HttpStatus.TOO_MANY_REQUESTS), HttpStatus.TOO_MANY_REQUESTS);
    this.message = message;
  }
}
