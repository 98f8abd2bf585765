import { Controller, Get, type DynamicModule, type Type } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { RateLimit, RateLimitModule, type RateLimitOptions } from 'nestjs-floodgate';
import type { Rule } from '../../store/workload.ts';
import { ANSWER, type Application } from '../application.ts';
import { authentication } from './authentication.ts';

function limitedController(...rules: RateLimitOptions[]): Type {
  @Controller()
  class LimitedController {
    @RateLimit(...rules)
    @Get('bench')
    bench(): string {
      return ANSWER;
    }
  }
  return LimitedController;
}

// A decision without Redis would show as a 503; see limiters/floodgate.ts for the deadline.
const floodgateModule = (redis: Redis): DynamicModule =>
  RateLimitModule.forRoot({ redis, decisionTimeout: '5s', onStoreError: 'deny' });

const options = ({ limit, windowMs }: Rule): RateLimitOptions => ({ limit, window: `${windowMs}ms` });

export const floodgateByAddress: Application = (redis, { rule }) => ({
  imports: [floodgateModule(redis)],
  controller: limitedController({ ...options(rule), type: 'IP' }),
});

export const floodgateByMethodAndUser: Application = (redis, { rule, sharedRule }) => ({
  imports: [floodgateModule(redis)],
  providers: [authentication],
  controller: limitedController({ ...options(sharedRule), type: 'METHOD' }, { ...options(rule), type: 'USER' }),
});
