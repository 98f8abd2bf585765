import type { Rule } from '../store/workload.ts';

export const PLATFORMS = ['express', 'fastify'] as const;
export type Platform = (typeof PLATFORMS)[number];
export const PLATFORM_NAME: Readonly<Record<Platform, string>> = { express: 'Express', fastify: 'Fastify' };

/** A Nest application with one route, `/bench`. */
export type ApplicationName = keyof typeof APPLICATIONS;

/** What each is compared with, and where it runs. */
export const APPLICATIONS = {
  'no limiter': { baseline: 'no limiter', on: ['express', 'fastify'] },
  'no limiter, authentication': { baseline: 'no limiter, authentication', on: ['express', 'fastify'] },
  'floodgate, IP rule': { baseline: 'no limiter', on: ['express', 'fastify'] },
  'floodgate, METHOD and USER rules': { baseline: 'no limiter, authentication', on: ['express', 'fastify'] },
  '@nestjs/throttler': { baseline: 'no limiter', on: ['express', 'fastify'] },
  'rate-limiter-flexible': { baseline: 'no limiter', on: ['express', 'fastify'] },
  'rate-limiter-flexible, memory block': { baseline: 'no limiter', on: ['express', 'fastify'] },
  'express-rate-limit': { baseline: 'no limiter', on: ['express'] },
  '@fastify/rate-limit': { baseline: 'no limiter', on: ['fastify'] },
} as const;

export type Traffic = 'admitted' | 'refused';

/** What the process of an application is given in `APPLICATION`. */
export interface ApplicationOrder {
  readonly name: ApplicationName;
  readonly platform: Platform;
  readonly redisUrl: string;
  /** On each client, by address or user. */
  readonly rule: Rule;
  /** Never used up: on what all clients share. */
  readonly sharedRule: Rule;
}

/** What it answers to any question. */
export interface ApplicationState {
  readonly url: string;
  /** CPU time since it started. */
  readonly cpuUs: number;
}
