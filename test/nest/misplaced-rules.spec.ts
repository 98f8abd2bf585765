import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, SetMetadata, type Provider, type Type } from '@nestjs/common';
import { RateLimit, SkipRateLimit } from 'nestjs-floodgate';
import { useApps } from '../support/limited-app.ts';
import { LogLines } from '../support/log-lines.ts';
import { startMessage } from '../support/start-error.ts';

// What the decorators of Nest's other transports leave on their handlers.
const MessagePattern = () => SetMetadata('microservices:handler_type', 1);
const SubscribeMessage = () => SetMetadata('websockets:message_mapping', true);
const Query = () => SetMetadata('graphql:resolver_type', 'Query');

@Controller()
class EventsController {
  @RateLimit({ limit: 1 })
  @MessagePattern()
  onEvent() {}
}

@RateLimit({ limit: 1 })
@Controller()
class OnlyEventsController {
  @MessagePattern()
  onEvent() {}
}

@RateLimit({ limit: 1 })
@Controller()
class MixedController {
  @Get()
  get() {}

  @MessagePattern()
  onEvent() {}
}

@RateLimit({ limit: 1 })
@Controller()
class MixedExemptController {
  @Get()
  get() {}

  @SkipRateLimit()
  @MessagePattern()
  onEvent() {}
}

@Controller()
class HelperController {
  @Get()
  get() {}

  @RateLimit({ limit: 1 })
  helper() {}
}

@Controller()
class StaticController {
  @Get()
  get() {}

  @RateLimit({ limit: 1 })
  static create() {}
}

@Injectable()
class MailService {
  @RateLimit({ limit: 1 })
  send() {}
}

@Injectable()
class ExemptService {
  @SkipRateLimit()
  send() {}
}

@RateLimit({ limit: 1 })
@Injectable()
class LimitedService {
  send() {}
}

@Injectable()
class InheritingService extends LimitedService {}

@Injectable()
class ChatGateway {
  @RateLimit({ limit: 1 })
  @SubscribeMessage()
  onMessage() {}
}

@RateLimit({ limit: 1 })
@Injectable()
class LimitedGateway {
  @SubscribeMessage()
  onMessage() {}
}

@Injectable()
class CatsResolver {
  @RateLimit({ limit: 1 })
  @Query()
  cats() {}
}

describe('a rule where no HTTP request passes fails the start', () => {
  it.each<[string, Type, RegExp]>([
    ['on a microservice handler', EventsController, /EventsController\.onEvent: .*microservice handler/],
    ['on a controller without HTTP handlers', OnlyEventsController, /OnlyEventsController/],
    ['on a controller with handlers of another transport', MixedController, /MixedController\.onEvent: .*microservice/],
    ['on a method that is no handler', HelperController, /HelperController\.helper: .*no HTTP route/],
    ['on a static member', StaticController, /StaticController\.create: .*static/],
  ])('%s', async (_, controller, message) => {
    expect(await startMessage({ controllers: [controller] })).toMatch(message);
  });

  it.each<[string, Type, RegExp]>([
    ['on a method of a provider', MailService, /MailService\.send: .*no HTTP route/],
    ['as an exemption on a method of a provider', ExemptService, /ExemptService\.send: .*no HTTP route/],
    ['on a provider', LimitedService, /LimitedService: .*no HTTP controller/],
    ['on the base class of a provider', InheritingService, /InheritingService: .*no HTTP controller/],
    ['on a WebSocket handler', ChatGateway, /ChatGateway\.onMessage: .*WebSocket handler/],
    ['on a gateway', LimitedGateway, /LimitedGateway: .*no HTTP controller/],
    ['on a GraphQL resolver', CatsResolver, /CatsResolver\.cats: .*GraphQL handler/],
  ])('%s', async (_, provider, message) => {
    expect(await startMessage({ providers: [provider] })).toMatch(message);
  });

  it('but not when the handlers of other transports are exempt', async () => {
    expect(await startMessage({ controllers: [MixedExemptController] })).toBe('');
  });

  it('and all of them are named in one message', async () => {
    const message = await startMessage({
      controllers: [EventsController, HelperController],
      providers: [MailService, LimitedService],
    });

    for (const name of ['EventsController.onEvent', 'HelperController.helper', 'MailService.send', 'LimitedService']) {
      expect(message).toContain(name);
    }
  });

  it('but providers of every other kind are left alone', async () => {
    const providers: Provider[] = [
      { provide: 'value', useValue: { send: 1 } },
      { provide: 'null', useValue: null },
      { provide: 'arrow', useFactory: () => ({}) },
      {
        provide: 'function',
        useFactory: function make() {
          return {};
        },
      },
      { provide: 'alias', useExisting: 'value' },
      Map,
    ];

    expect(await startMessage({ providers })).toBe('');
  });
});

@Controller()
class HybridController {
  @Get('hybrid')
  get() {}

  @MessagePattern()
  onEvent() {}
}

@Injectable()
class FreeGateway {
  @SubscribeMessage()
  onMessage() {}
}

describe('handlers of other transports', () => {
  const start = useApps();
  const parts = { controllers: [HybridController], providers: [FreeGateway] };

  it('are named once in the log when the module has rules, which do not cover them', async () => {
    const logger = new LogLines();
    const app = await start('express', { ...parts, logger, options: { rules: [{ limit: 1 }] } });

    expect(await app.statuses(2, '/hybrid')).toEqual([200, 429]);
    expect(logger.matching(/^warn: .*HybridController\.onEvent .*FreeGateway\.onMessage/)).toHaveLength(1);
  });

  it('are not mentioned when the module has none', async () => {
    const logger = new LogLines();
    await start('express', { ...parts, logger });

    expect(logger.matching(/onEvent|onMessage/)).toEqual([]);
  });
});
