import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { map, type Observable } from 'rxjs';
import { ok, type Result } from './result.ts';

/** Puts what handlers return into the envelope. */
@Injectable()
export class ResultInterceptor<T> implements NestInterceptor<T, Result<T>> {
  intercept(_context: ExecutionContext, next: CallHandler<T>): Observable<Result<T>> {
    return next.handle().pipe(map(ok));
  }
}
