import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.ts';

const { PORT = '3000', REDIS_URL, TOKEN_SECRET, HTTP_ADAPTER } = process.env;

const shop = AppModule.register({
  redis: REDIS_URL,
  tokenSecret: TOKEN_SECRET ?? randomBytes(32).toString('hex'),
  stock: { '1': 100 },
});
const app = await NestFactory.create(shop, HTTP_ADAPTER === 'fastify' ? new FastifyAdapter() : new ExpressAdapter());
app.enableShutdownHooks();
await app.listen(PORT);
