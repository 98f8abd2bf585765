import type { Redis } from 'ioredis';
import type { Rule } from '../store/workload.ts';

/** Whether one more request of this key is admitted. */
export type Decide = (key: string) => Promise<boolean>;

/** A limiter as its documentation sets it up, over a connection of its own with the options that ioredis has by default. */
export type Limiter = (redis: Redis, rule: Rule) => Decide | Promise<Decide>;
