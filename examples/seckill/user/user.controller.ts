import { Body, Controller, HttpCode, HttpStatus, Post, UnauthorizedException } from '@nestjs/common';
import { RateLimit, RateLimitType } from 'nestjs-floodgate';
import { fail } from '../result/result.ts';
import { Tokens } from './tokens.ts';

/** A real shop sends each phone a code of its own. */
const CODE = '246810';
const PHONE = /^1\d{10}$/;

@Controller('user')
export class UserController {
  constructor(private readonly tokens: Tokens) {}

  /** Whoever guesses codes has five tries, right or wrong, and then waits. */
  @RateLimit({ window: 10, limit: 5, type: RateLimitType.IP, message: '登录尝试过于频繁，请稍后再试' })
  @Post('login')
  @HttpCode(HttpStatus.OK)
  login(@Body() body: { phone?: unknown; code?: unknown } | undefined): string {
    const { phone, code } = body ?? {};
    if (typeof phone !== 'string' || !PHONE.test(phone) || code !== CODE) {
      throw new UnauthorizedException(fail('手机号或验证码错误'));
    }
    return this.tokens.issue(phone);
  }
}
