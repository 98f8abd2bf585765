import { describe, expect, it } from '@jest/globals';
import {
  All,
  Controller,
  Delete,
  Get,
  Head,
  Options,
  Patch,
  Post,
  Put,
  Version,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { controllerPlace, handlerPlace, isHttpHandler, type Class, type Handler } from '../../src/nest/place.ts';

type Decorate = ClassDecorator & MethodDecorator;
const nothing: Decorate = () => {};

function handlerOf(onMethod: MethodDecorator, onClass: ClassDecorator = Controller(), also: MethodDecorator = nothing) {
  @onClass
  class PlacedController {
    @also
    @onMethod
    handle() {}
  }
  const { value } = Object.getOwnPropertyDescriptor(PlacedController.prototype, 'handle')!;
  return [PlacedController, value] as readonly [Class, Handler];
}

describe('the place of a handler', () => {
  it.each<[string, ReturnType<typeof handlerOf>]>([
    ['GET /', handlerOf(Get())],
    ['GET /', handlerOf(Get('/'), Controller('/'))],
    ['GET /cats', handlerOf(Get(), Controller('cats'))],
    ['GET /cats', handlerOf(Get('cats'))],
    ['GET /cats/:id', handlerOf(Get(':id'), Controller('cats'))],
    ['GET /cats/:id', handlerOf(Get('/:id/'), Controller('/cats/'))],
    ['GET /cats/:id', handlerOf(Get('//:id'), Controller({ path: 'cats//' }))],
    ['GET /cats/list', handlerOf(Get(['list', 'all']), Controller(['cats', 'felines']))],
    ['GET /files/{*path}', handlerOf(Get('files/{*path}'))],
    ['POST /cats', handlerOf(Post('cats'))],
    ['PUT /cats', handlerOf(Put('cats'))],
    ['PATCH /cats', handlerOf(Patch('cats'))],
    ['DELETE /cats', handlerOf(Delete('cats'))],
    ['HEAD /cats', handlerOf(Head('cats'))],
    ['OPTIONS /cats', handlerOf(Options('cats'))],
    ['ALL /cats', handlerOf(All('cats'))],
    ['GET /cats v1', handlerOf(Get('cats'), Controller(), Version('1'))],
    ['GET /cats v1', handlerOf(Get('cats'), Controller(), Version(['1', '2']))],
    ['GET /cats v2', handlerOf(Get('cats'), Controller({ version: '2' }))],
    ['GET /cats v1', handlerOf(Get('cats'), Controller({ version: '2' }), Version('1'))],
    ['GET /cats', handlerOf(Get('cats'), Controller({ version: VERSION_NEUTRAL }))],
    ['GET /cats', handlerOf(Get('cats'), Controller({ version: '2' }), Version(VERSION_NEUTRAL))],
    ['GET admin.example.org/cats', handlerOf(Get('cats'), Controller({ host: 'admin.example.org' }))],
    ['GET :tenant.example.org/cats', handlerOf(Get('cats'), Controller({ host: [':tenant.example.org', 'x.org'] }))],
    ['GET a\\.org/cats', handlerOf(Get('cats'), Controller({ host: /a\.org/ }))],
  ])('is %s', (place, [controller, handler]) => {
    expect(handlerPlace(controller, handler)).toBe(place);
  });
});

describe('the place of a controller', () => {
  it.each<[string, ReturnType<typeof handlerOf>]>([
    ['/*', handlerOf(Get())],
    ['/cats/*', handlerOf(Get(), Controller('cats'))],
    ['/cats/*', handlerOf(Get(), Controller(['cats', 'felines']))],
    ['/cats/* v1', handlerOf(Get(), Controller({ path: 'cats', version: ['1', '2'] }))],
    ['a.org/cats/*', handlerOf(Get(), Controller({ path: 'cats', host: 'a.org' }))],
  ])('is %s', (place, [controller]) => {
    expect(controllerPlace(controller)).toBe(place);
  });
});

describe('a method', () => {
  it('is served over HTTP when it has a path, be it the empty one', () => {
    expect(isHttpHandler(handlerOf(Get())[1])).toBe(true);
    expect(isHttpHandler(handlerOf(nothing)[1])).toBe(false);
  });
});
