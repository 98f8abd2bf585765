import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { RateLimitModule } from 'nestjs-floodgate';
import { RateLimitFilter } from './rate-limit.filter.ts';
import { VoucherOrderController } from './voucher-order.controller.ts';

@Module({
  // Without a URL the limits hold for this process only.
  imports: [RateLimitModule.forRoot({ redis: process.env.REDIS_URL })],
  controllers: [VoucherOrderController],
  providers: [{ provide: APP_FILTER, useClass: RateLimitFilter }],
})
export class AppModule {}
