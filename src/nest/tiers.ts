import type { ExecutionContext } from '@nestjs/common';
import type { Duration } from '../core/duration.ts';
import { show } from '../core/show.ts';
import { isThenable } from './answers.ts';

/** The tier of a request (its user's plan, say), by name; a number counts as its text. */
export type TierFunction = (
  context: ExecutionContext,
) => string | number | undefined | null | Promise<string | number | undefined | null>;

/** Options of {@link tiers}. */
export interface TiersOptions<Tier extends string | number = string> {
  /** The tier of requests whose own one is not in the list, or that have none. @default none: the rule cannot be judged */
  readonly otherwise?: Tier;
}

/** What `tiers` was called with. It is checked where the option is known that it stands for. */
export interface TierTable {
  readonly values: unknown;
  readonly tierOf: unknown;
  readonly options: unknown;
}

// The same in every copy of the library that a process may hold.
const TABLE = Symbol.for('nestjs-floodgate:tiers');

/**
 * A `limit`, `window` or `cost` by tier: `limit: tiers({ free: 10, vip: 100 }, planOf)`. The values are those that the
 * option takes, and are checked when the application starts. `tierOf` is asked once for each request and moment, however
 * many rules go by it.
 *
 * A request whose tier is not in the list gets that of `otherwise`. Without one the rule cannot be judged: it does not
 * limit the request, or refuses it with 503 where its `onStoreError` is `'deny'`, and the log tells which tier it was.
 *
 * @param values the value of each tier
 * @param tierOf tells the tier of a request, and may be async
 */
export function tiers<Tier extends string | number, Value extends Duration>(
  values: Readonly<Record<Tier, Value>>,
  tierOf: TierFunction,
  options: TiersOptions<NoInfer<Tier>> = {},
): (context: ExecutionContext) => Value | Promise<Value> {
  const find = (context: ExecutionContext): Value | Promise<Value> => {
    const tier = tierOf(context);
    const pick = (name: unknown): Value => valueOf(new Map(Object.entries<Value>(values)), name, options.otherwise);
    return isThenable(tier) ? Promise.resolve(tier).then(pick) : pick(tier);
  };
  const table: TierTable = { values, tierOf, options };
  return Object.defineProperty(find, TABLE, { value: table });
}

/** Undefined for a function that `tiers` did not make. */
export const tierTableOf = (find: object): TierTable | undefined => (find as { [TABLE]?: TierTable })[TABLE];

/** A map and not the object, which has names that nobody gave it. @throws TypeError for a tier that is not there */
export function valueOf<Value>(
  values: ReadonlyMap<string, Value>,
  tier: unknown,
  otherwise: string | number | undefined,
): Value {
  const name = typeof tier === 'number' ? String(tier) : tier;
  if (typeof name === 'string' && values.has(name)) return values.get(name)!;
  if (otherwise !== undefined) return values.get(String(otherwise))!;
  // Those that are known come first: the other one may be long, and messages are cut.
  throw new TypeError(`the tiers are ${[...values.keys()].join(', ')}, got ${show(tier)}`);
}
