import { Controller, Param, Post } from '@nestjs/common';
import { RateLimit } from 'nestjs-floodgate';

@Controller('voucher-order')
export class VoucherOrderController {
  @RateLimit({ window: 10, limit: 10, message: '秒杀活动太火爆，请稍后再试' })
  @Post('seckill/:id')
  seckill(@Param('id') id: string): { ordered: string } {
    return { ordered: id };
  }
}
