import 'reflect-metadata';
import assert from 'node:assert/strict';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { RateLimiter, RateLimitModule } from 'nestjs-floodgate';

/** Nest finds its parameter by nothing but the metadata that the compiler emits for the type. */
@Injectable()
class Mailer {
  constructor(private readonly limiter: RateLimiter) {}

  async mayMail(address: string): Promise<boolean> {
    return (await this.limiter.consume({ name: 'mail', limit: 1 }, address)).allowed;
  }
}

@Module({ imports: [RateLimitModule.forRoot()], providers: [Mailer] })
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] });
  const mailer = app.get(Mailer);
  assert.deepEqual([await mailer.mayMail('a@b.c'), await mailer.mayMail('a@b.c')], [true, false]);
  await app.close();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
