import { Controller, Get, Header } from '@nestjs/common';
import { register } from 'prom-client';

/** What Prometheus scrapes. Keep it where clients do not get. */
@Controller('metrics')
export class MetricsController {
  @Header('Content-Type', register.contentType)
  @Get()
  metrics(): Promise<string> {
    return register.metrics();
  }
}
