import { Module } from '@nestjs/common';
import { RateLimitModule } from 'nestjs-floodgate';
import { RateLimitPrometheusModule } from 'nestjs-floodgate/prometheus';
import { ArticlesController } from './articles.controller.ts';
import { CodesController } from './codes.controller.ts';
import { MetricsController } from './metrics.controller.ts';

@Module({
  imports: [RateLimitModule.forRoot({ redis: process.env.REDIS_URL }), RateLimitPrometheusModule],
  controllers: [ArticlesController, CodesController, MetricsController],
})
export class AppModule {}
