import { Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR } from '@nestjs/core';
import { RateLimitModule } from 'nestjs-floodgate';
import { RateLimitFilter } from './result/rate-limit.filter.ts';
import { ResultInterceptor } from './result/result.interceptor.ts';
import type { ShopOptions } from './shop-options.ts';
import { Tokens } from './user/tokens.ts';
import { UserController } from './user/user.controller.ts';
import { VoucherOrderController } from './voucher-order/voucher-order.controller.ts';
import { MemoryVoucherStock } from './voucher-order/memory-voucher-stock.ts';
import { RedisVoucherStock } from './voucher-order/redis-voucher-stock.ts';
import { VoucherStock } from './voucher-order/voucher-stock.ts';

@Module({})
export class AppModule {
  static register({ redis, keyPrefix = 'shop', decisionTimeout, tokenSecret, stock }: ShopOptions): DynamicModule {
    return {
      module: AppModule,
      // While Redis cannot answer, nothing is sold: better a 503 than a flood.
      imports: [RateLimitModule.forRoot({ redis, keyPrefix, decisionTimeout, onStoreError: 'deny' })],
      controllers: [UserController, VoucherOrderController],
      providers: [
        { provide: APP_FILTER, useClass: RateLimitFilter },
        { provide: APP_INTERCEPTOR, useClass: ResultInterceptor },
        { provide: Tokens, useFactory: () => new Tokens(tokenSecret) },
        {
          provide: VoucherStock,
          useFactory: () => (redis ? new RedisVoucherStock(redis, keyPrefix, stock) : new MemoryVoucherStock(stock)),
        },
      ],
    };
  }
}
