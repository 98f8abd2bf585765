import { randomUUID } from 'node:crypto';
import { ConflictException, Controller, HttpCode, HttpStatus, Param, Post, UseGuards } from '@nestjs/common';
import { RateLimit, RateLimitType } from 'nestjs-floodgate';
import { fail } from '../result/result.ts';
import { AuthGuard } from '../user/auth.guard.ts';
import { CurrentUser } from '../user/current-user.decorator.ts';
import type { User } from '../user/user.ts';
import type { VoucherOrder } from './voucher-order.ts';
import { VoucherStock } from './voucher-stock.ts';

@UseGuards(AuthGuard)
@Controller('voucher-order')
export class VoucherOrderController {
  constructor(private readonly stock: VoucherStock) {}

  @RateLimit(
    { window: 10, limit: 10, message: '秒杀活动太火爆，请稍后再试' },
    { window: 10, limit: 3, type: RateLimitType.USER, message: '您的操作太频繁，请稍后再试' },
  )
  @Post('seckill/:id')
  @HttpCode(HttpStatus.OK)
  async seckill(@Param('id') voucherId: string, @CurrentUser() user: User): Promise<VoucherOrder> {
    if (!(await this.stock.take(voucherId))) throw new ConflictException(fail('库存不足'));
    return { id: randomUUID(), voucherId, userId: user.id };
  }
}
