import { Catch } from '@nestjs/common';
import { RateLimitException, RateLimitExceptionFilter } from 'nestjs-floodgate';
import { fail, type Result } from './result.ts';

/** Puts refusals into the envelope, with status 429. */
@Catch(RateLimitException)
export class RateLimitFilter extends RateLimitExceptionFilter {
  protected override body(exception: RateLimitException): Result<never> {
    return fail(exception.message);
  }
}
