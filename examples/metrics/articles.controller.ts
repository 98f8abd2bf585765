import { Controller, Get, Param } from '@nestjs/common';
import { RateLimit } from 'nestjs-floodgate';

@RateLimit({ name: 'reads', window: '1m', limit: 60 })
@Controller('articles')
export class ArticlesController {
  @Get()
  list(): readonly string[] {
    return ['floods', 'gates'];
  }

  @RateLimit({ name: 'exports', window: '1m', limit: 5, type: 'IP' })
  @Get(':id/export')
  export(@Param('id') id: string): { exported: string } {
    return { exported: id };
  }
}
