import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { RateLimitException } from 'nestjs-floodgate';

/** What the filter needs of an answer; Express and Fastify both have it. */
interface Response {
  status(code: number): { send(body: unknown): unknown };
}

/** Wraps refusals in the application's own envelope. */
@Catch(RateLimitException)
export class RateLimitFilter implements ExceptionFilter<RateLimitException> {
  catch(exception: RateLimitException, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    response.status(exception.getStatus()).send({ success: false, errorMsg: exception.message });
  }
}
