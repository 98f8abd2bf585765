import { Catch, Inject, Injectable, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { isProblem, PROBLEM_MEDIA_TYPE } from './problem-details.ts';
import { RateLimitException } from './rate-limit.exception.ts';

/**
 * Answers a refusal over HTTP. Not needed for that, since Nest answers every HttpException; it gives problem details
 * their media type, and is a base for filters that wrap the answer in the application's own envelope: override
 * {@link body}.
 */
@Injectable()
@Catch(RateLimitException)
export class RateLimitExceptionFilter implements ExceptionFilter<RateLimitException> {
  /** @param adapterHost what answers are sent by: `app.get(HttpAdapterHost)` where the filter is made by hand */
  constructor(@Inject(HttpAdapterHost) protected readonly adapterHost: HttpAdapterHost) {}

  catch(exception: RateLimitException, host: ArgumentsHost): void {
    const { httpAdapter } = this.adapterHost;
    const response: unknown = host.switchToHttp().getResponse();
    if (httpAdapter.isHeadersSent(response)) {
      httpAdapter.end(response);
      return;
    }
    const body = this.body(exception, host);
    if (isProblem(body)) httpAdapter.setHeader(response, 'Content-Type', PROBLEM_MEDIA_TYPE);
    httpAdapter.reply(response, body, exception.getStatus());
  }

  /** What the client gets. @default the exception's own body */
  protected body(exception: RateLimitException, _host: ArgumentsHost): unknown {
    return exception.getResponse();
  }
}
