/** The process of one application, which it is told about in `APPLICATION`. */
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Redis } from 'ioredis';
import { answerQuestions } from '../../support/child.ts';
import type { ApplicationOrder, ApplicationState } from '../http/application.ts';
import { PlainController } from './application.ts';
import { APPLICATION_PARTS } from './applications.ts';

const order = JSON.parse(process.env.APPLICATION!) as ApplicationOrder;
const redis = new Redis(order.redisUrl);
await redis.ping();
const parts = APPLICATION_PARTS[order.name](redis, order);

@Module({
  imports: [...(parts.imports ?? [])],
  controllers: [parts.controller ?? PlainController],
  providers: [...(parts.providers ?? [])],
})
class BenchModule {}

const adapter = order.platform === 'express' ? new ExpressAdapter() : new FastifyAdapter();
const app = await NestFactory.create(BenchModule, adapter as ExpressAdapter, { logger: false, abortOnError: false });
await parts.configure?.(app);
await app.listen(0, '127.0.0.1');
const { port } = app.getHttpServer().address() as { port: number };
const url = `http://127.0.0.1:${port}/bench`;

answerQuestions((): Promise<ApplicationState> => {
  const { user, system } = process.cpuUsage();
  return Promise.resolve({ url, cpuUs: user + system });
});
