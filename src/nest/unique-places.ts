import type { HttpHandler } from './discovered-handlers.ts';

/**
 * One place for each owner (a controller, or a handler). Where several owners would have the same, each is told apart
 * by what `qualify` says of it; where that does not help, it is a fault.
 */
export function uniquePlaces<Owner>(
  handlers: readonly HttpHandler[],
  ownerOf: (handler: HttpHandler) => Owner,
  placeOf: (handler: HttpHandler) => string,
  qualify: (handler: HttpHandler) => string,
  fault: (message: string) => void,
): ReadonlyMap<Owner, string> {
  const declared = new Map(handlers.map((handler) => [ownerOf(handler), handler]));
  const ownersOf = new Map<string, number>();
  for (const handler of declared.values()) {
    const place = placeOf(handler);
    ownersOf.set(place, (ownersOf.get(place) ?? 0) + 1);
  }
  const taken = new Set<string>();
  const places = new Map<Owner, string>();
  for (const [owner, handler] of declared) {
    const place = placeOf(handler);
    const unique = ownersOf.get(place) === 1 ? place : `${place} [${qualify(handler)}]`;
    if (taken.has(unique)) fault(`the rules on two handlers at "${unique}" cannot be told apart`);
    taken.add(unique);
    places.set(owner, unique);
  }
  return places;
}
