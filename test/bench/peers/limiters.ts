import type { LimiterName } from '../limiter-name.ts';
import type { Limiter } from './limiter.ts';
import { emptyScript } from './limiters/empty-script.ts';
import { expressRateLimit } from './limiters/express-rate-limit.ts';
import { fastifyRateLimit } from './limiters/fastify-rate-limit.ts';
import { floodgate } from './limiters/floodgate.ts';
import { rateLimiterFlexible, rateLimiterFlexibleWithBlock } from './limiters/rate-limiter-flexible.ts';
import { sortedSetLog } from './limiters/sorted-set-log.ts';
import { throttler } from './limiters/throttler.ts';

export const LIMITERS: Readonly<Record<LimiterName, Limiter>> = {
  'empty script': emptyScript,
  floodgate,
  '@nestjs/throttler': throttler,
  'rate-limiter-flexible': rateLimiterFlexible,
  'rate-limiter-flexible, memory block': rateLimiterFlexibleWithBlock,
  'express-rate-limit': expressRateLimit,
  '@fastify/rate-limit': fastifyRateLimit,
  'sorted-set log': sortedSetLog,
};
