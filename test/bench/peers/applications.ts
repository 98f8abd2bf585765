import type { ApplicationName } from '../http/application.ts';
import type { Application } from './application.ts';
import { expressMiddleware, fastifyRateLimit } from './apps/adapter-limiters.ts';
import { authentication } from './apps/authentication.ts';
import { floodgateByAddress, floodgateByMethodAndUser } from './apps/floodgate.ts';
import { flexible, flexibleWithBlock } from './apps/rate-limiter-flexible.ts';
import { throttler } from './apps/throttler.ts';

export const APPLICATION_PARTS: Readonly<Record<ApplicationName, Application>> = {
  'no limiter': () => ({}),
  'no limiter, authentication': () => ({ providers: [authentication] }),
  'floodgate, IP rule': floodgateByAddress,
  'floodgate, METHOD and USER rules': floodgateByMethodAndUser,
  '@nestjs/throttler': throttler,
  'rate-limiter-flexible': flexible,
  'rate-limiter-flexible, memory block': flexibleWithBlock,
  'express-rate-limit': expressMiddleware,
  '@fastify/rate-limit': fastifyRateLimit,
};
