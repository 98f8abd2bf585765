import { Controller, Get, type DynamicModule, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { RateLimit, type RateLimitModuleOptions } from 'nestjs-floodgate';
import { rootModule, type LimitedAppParts } from './limited-app.ts';

/** What the start of this application fails with; undefined when it starts. */
export async function startErrorOf(module: DynamicModule): Promise<Error | undefined> {
  try {
    const app = await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
    await app.close();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

/** The message that the start of an application of these parts fails with; '' when it starts. */
export async function startMessage(parts: LimitedAppParts): Promise<string> {
  return (await startErrorOf(rootModule(parts)))?.message ?? '';
}

/** A controller with one route, `VoucherController.seckill`, that these rules stand on. */
export function voucherController(...rules: readonly unknown[]): Type {
  @Controller('vouchers')
  class VoucherController {
    @RateLimit(...(rules as object[]))
    @Get('seckill')
    seckill() {}
  }
  return VoucherController;
}

/** Starts with one route limited by these rules, whatever they are. */
export const startMessageOfRules = (rules: readonly unknown[], options?: RateLimitModuleOptions): Promise<string> =>
  startMessage({ controllers: [voucherController(...rules)], ...(options && { options }) });

/** Starts with these module options, whatever they are. */
export const startMessageOfOptions = (options: unknown): Promise<string> =>
  startMessage({ options: options as RateLimitModuleOptions });
