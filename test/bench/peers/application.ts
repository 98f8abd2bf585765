import type { DynamicModule, INestApplication, Provider, Type } from '@nestjs/common';
import { Controller, Get } from '@nestjs/common';
import type { Redis } from 'ioredis';
import type { ApplicationOrder } from '../http/application.ts';

export const ANSWER = 'hello';

/** What makes an application a limited one. */
interface ApplicationParts {
  readonly imports?: readonly DynamicModule[];
  readonly providers?: readonly Provider[];
  /** In place of the one without limits. */
  readonly controller?: Type;
  /** Before it listens. */
  readonly configure?: (app: INestApplication) => unknown;
}

export type Application = (redis: Redis, order: ApplicationOrder) => ApplicationParts;

@Controller()
export class PlainController {
  @Get('bench')
  bench(): string {
    return ANSWER;
  }
}
