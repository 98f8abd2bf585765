import { ThrottlerStorageRedisService } from '@nest-lab/throttler-storage-redis';
import { APP_GUARD } from '@nestjs/core';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import type { Application } from '../application.ts';

export const throttler: Application = (redis, { rule: { limit, windowMs } }) => ({
  imports: [
    ThrottlerModule.forRoot({
      throttlers: [{ limit, ttl: windowMs }],
      storage: new ThrottlerStorageRedisService(redis),
    }),
  ],
  providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
});
