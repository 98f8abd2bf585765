import { HttpException, HttpStatus } from '@nestjs/common';

/** When clients that nobody could decide about are told to come back, milliseconds. */
export const UNAVAILABLE_RETRY_MS = 1_000;

/** A limit could not be judged, and the rule's policy for that is `'deny'`: status 503, never 429. */
export class RateLimitUnavailableException extends HttpException {
  /**
   * @param cause what was in the way
   * @param message for the application; clients are told to try again shortly
   */
  constructor(cause: unknown, message?: string) {
    super(
      {
        statusCode: HttpStatus.SERVICE_UNAVAILABLE,
        error: 'Service Unavailable',
        message: 'Please try again shortly.',
      },
      HttpStatus.SERVICE_UNAVAILABLE,
      { cause },
    );
    if (message !== undefined) this.message = message;
  }
}
