import { Controller, Inject, Param, Post } from '@nestjs/common';
import { RateLimiter } from 'nestjs-floodgate';

/** Text messages cost money: three a minute for each number, whoever asks for them. */
const CODES = { name: 'codes', window: '1m', limit: 3 } as const;

@Controller('codes')
export class CodesController {
  constructor(@Inject(RateLimiter) private readonly limiter: RateLimiter) {}

  @Post(':phone')
  async send(@Param('phone') phone: string): Promise<{ sent: boolean }> {
    const { allowed } = await this.limiter.consume(CODES, phone);
    return { sent: allowed };
  }
}
