/** The same list, begun elsewhere in each round, so that no place in it is anybody's own. */
export function rotated<T>(list: readonly T[], by: number): readonly T[] {
  const begin = by % list.length;
  return [...list.slice(begin), ...list.slice(0, begin)];
}
