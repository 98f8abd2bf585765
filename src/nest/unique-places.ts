/**
 * One place for each owner (a controller, or a handler). Where several owners would have the same, each is told apart
 * by what `qualify` says of it; where that does not help, it is a fault.
 */
export function uniquePlaces<Item, Owner>(
  items: readonly Item[],
  ownerOf: (item: Item) => Owner,
  placeOf: (item: Item) => string,
  qualify: (item: Item) => string,
  fault: (message: string) => void,
): ReadonlyMap<Owner, string> {
  const declared = new Map(items.map((item) => [ownerOf(item), item]));
  const ownersOf = new Map<string, number>();
  for (const item of declared.values()) {
    const place = placeOf(item);
    ownersOf.set(place, (ownersOf.get(place) ?? 0) + 1);
  }
  const taken = new Set<string>();
  const places = new Map<Owner, string>();
  for (const [owner, item] of declared) {
    const place = placeOf(item);
    const unique = ownersOf.get(place) === 1 ? place : `${place} [${qualify(item)}]`;
    if (taken.has(unique)) fault(`the rules on two handlers at "${unique}" cannot be told apart`);
    taken.add(unique);
    places.set(owner, unique);
  }
  return places;
}
