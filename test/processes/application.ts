import 'reflect-metadata';
import { Controller, Get, Module, Post, type ExecutionContext } from '@nestjs/common';
import { RateLimit, RateLimitModule } from '../../src/index.ts';
import { answerQuestions } from '../support/child.ts';
import { startApp, type Platform } from '../support/nest-app.ts';

const { REDIS_URL: redis, KEY_PREFIX: keyPrefix, PLATFORM } = process.env;

function who(context: ExecutionContext): string {
  return context.switchToHttp().getRequest<{ params: { who: string } }>().params.who;
}

@Controller('voucher-order')
class VoucherOrderController {
  @RateLimit({ window: 10, limit: 50 })
  @Post('seckill/:id')
  seckill(): string {
    return 'ordered';
  }

  @RateLimit({ window: '1h', limit: 1, key: who, block: { after: 50, within: '1h', for: '2h' } })
  @Get('guess/:who')
  guess(): string {
    return 'guessed';
  }
}

@Module({
  // A busy test machine must not turn into failures of the store.
  imports: [RateLimitModule.forRoot({ redis, keyPrefix, decisionTimeout: '5s', onStoreError: 'deny' })],
  controllers: [VoucherOrderController],
})
class AppModule {}

const { url } = await startApp(AppModule, PLATFORM as Platform);
answerQuestions(async () => url);
