import { describe, expect, it } from '@jest/globals';
import type { HttpHandler } from '../../src/nest/discovered-handlers.ts';
import { uniquePlaces } from '../../src/nest/unique-places.ts';

const named = (name: string) => ({ [name]: class {} })[name]!;

const handlerOf = (
  controller: HttpHandler['controller'],
  methodName: string,
  moduleName = 'CatsModule',
): HttpHandler => ({
  controller,
  moduleName,
  methodName,
  handler: () => undefined,
  metadata: undefined,
});

function placesOf(handlers: readonly HttpHandler[], placeOf: (handler: HttpHandler) => string) {
  const faults: string[] = [];
  const places = uniquePlaces(
    handlers,
    (handler) => handler,
    placeOf,
    ({ controller, moduleName }) => `${controller.name} in ${moduleName}`,
    (fault) => faults.push(fault),
  );
  return { places: [...places.values()], faults };
}

describe('the places of several handlers', () => {
  const Cats = named('CatsController');
  const OtherCats = named('CatsController');
  const Dogs = named('DogsController');

  it('are as they are declared when they differ', () => {
    const handlers = [handlerOf(Cats, 'list'), handlerOf(Cats, 'create'), handlerOf(Dogs, 'list')];

    expect(placesOf(handlers, ({ controller, methodName }) => `${controller.name}/${methodName}`)).toEqual({
      places: ['CatsController/list', 'CatsController/create', 'DogsController/list'],
      faults: [],
    });
  });

  it('have what tells them apart added, each of them, when they are the same', () => {
    const handlers = [handlerOf(Cats, 'list'), handlerOf(Dogs, 'list'), handlerOf(OtherCats, 'list', 'OldModule')];

    expect(placesOf(handlers, () => 'GET /')).toEqual({
      places: [
        'GET / [CatsController in CatsModule]',
        'GET / [DogsController in CatsModule]',
        'GET / [CatsController in OldModule]',
      ],
      faults: [],
    });
  });

  it('are faulty when that is the same, too', () => {
    const handlers = [handlerOf(Cats, 'list'), handlerOf(OtherCats, 'find')];

    expect(placesOf(handlers, () => 'GET /').faults).toEqual([
      expect.stringMatching(/"GET \/ \[CatsController in CatsModule\]" cannot be told apart/),
    ]);
  });

  it('are one for one owner of several handlers', () => {
    const handlers = [handlerOf(Cats, 'list'), handlerOf(Cats, 'create')];
    const places = uniquePlaces(
      handlers,
      ({ controller }) => controller,
      () => '/cats/*',
      () => 'told apart',
      (fault) => expect(fault).toBeUndefined(),
    );

    expect([...places]).toEqual([[Cats, '/cats/*']]);
  });
});
