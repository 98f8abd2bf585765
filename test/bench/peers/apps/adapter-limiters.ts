import fastifyPlugin from '@fastify/rate-limit';
import { HttpException } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { rateLimit } from 'express-rate-limit';
import type { Application } from '../application.ts';
import { redisStoreOf } from '../limiters/express-rate-limit.ts';

export const expressMiddleware: Application = (redis, { rule: { limit, windowMs } }) => ({
  configure: (app) => app.use(rateLimit({ limit, windowMs, store: redisStoreOf(redis) })),
});

export const fastifyRateLimit: Application = (redis, { rule: { limit, windowMs } }) => ({
  configure: (app) =>
    (app as NestFastifyApplication).register(fastifyPlugin, {
      max: limit,
      timeWindow: windowMs,
      redis,
      // Its own error becomes a 500 in Nest.
      errorResponseBuilder: () => new HttpException('Too Many Requests', 429),
    }),
});
