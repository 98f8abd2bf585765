export const OURS = 'floodgate';

/** The other libraries, each with its own store for Redis. */
export const PEERS = [
  '@nestjs/throttler',
  'rate-limiter-flexible',
  'rate-limiter-flexible, memory block',
  'express-rate-limit',
  '@fastify/rate-limit',
] as const;

/** `EVALSHA` of a script that does nothing. */
export const CEILING = 'empty script';

/** What one writes who needs an exact window and has no library. */
export const PLAIN_LOG = 'sorted-set log';

export type LimiterName = typeof OURS | (typeof PEERS)[number] | typeof CEILING | typeof PLAIN_LOG;
