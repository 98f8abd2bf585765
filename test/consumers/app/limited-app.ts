import 'reflect-metadata';
import { Catch, Controller, Get, Injectable, Module, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { APP_FILTER, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { RateLimit, RateLimitException, RateLimitModule } from 'nestjs-floodgate';

@Controller()
class HelloController {
  @RateLimit({ limit: 2, type: 'IP' })
  @Get('hello')
  hello(): string {
    return 'hello';
  }
}

interface Answering {
  status(code: number): { send(body: unknown): unknown };
}

@Injectable()
@Catch(RateLimitException)
class EnvelopeFilter implements ExceptionFilter<RateLimitException> {
  catch(exception: RateLimitException, host: ArgumentsHost): void {
    const isOurs = exception instanceof RateLimitException;
    host.switchToHttp().getResponse<Answering>().status(exception.getStatus()).send({ isOurs });
  }
}

async function statusesOn(platform: 'express' | 'fastify', redis: string | undefined): Promise<string> {
  const keyPrefix = `consumer-${process.pid}-${Math.random().toString(36).slice(2)}`;
  @Module({
    imports: [RateLimitModule.forRoot({ redis, keyPrefix, decisionTimeout: '5s', onStoreError: 'deny' })],
    controllers: [HelloController],
    providers: [{ provide: APP_FILTER, useClass: EnvelopeFilter }],
  })
  class AppModule {}
  const adapter = platform === 'express' ? new ExpressAdapter() : new FastifyAdapter();
  const app = await NestFactory.create(AppModule, adapter as ExpressAdapter, { logger: ['error', 'warn'] });
  await app.listen(0, '127.0.0.1');
  try {
    const url = `${await app.getUrl()}/hello`;
    const answers: string[] = [];
    for (let i = 0; i < 3; i++) {
      const answer = await fetch(url);
      answers.push(`${answer.status} ${await answer.text()}`);
    }
    return answers.join(', ');
  } finally {
    await app.close();
  }
}

/** What a limited route answers on both platforms, in process and on Redis. */
export async function answers(): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const url = process.env.TEST_REDIS_URL;
  if (!url) throw new Error('TEST_REDIS_URL is not set');
  for (const redis of [undefined, url]) {
    for (const platform of ['express', 'fastify'] as const) {
      found[`${platform} ${redis ? 'on Redis' : 'in process'}`] = await statusesOn(platform, redis);
    }
  }
  return found;
}

export const EXPECTED = '200 hello, 200 hello, 429 {"isOurs":true}';
