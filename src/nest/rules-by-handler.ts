import type { ExecutionContext } from '@nestjs/common';
import { isJudgedLate } from './client-list.ts';
import { isEverEnforced, isEverInShadow } from './enforced-share.ts';
import type { RateLimitModuleOptions } from './module-options.ts';
import { APPLICATION_PLACE, type Class, type Handler } from './place.ts';
import type { Rule } from './rule.ts';

/** The rules of one handler, by the moment at which they are decided. */
export interface HandlerRules {
  /** Decided before the other guards, as far as they have an identity there. */
  readonly early: readonly Rule[];
  /** Decided after all guards. */
  readonly late: readonly Rule[];
  /** Whether there is a later moment: not so where the application places the guard. */
  readonly hasLateMoment: boolean;
  /** Whether some rule counts by outcome, and the interceptor sees it. */
  readonly hasOutcome: boolean;
  /** There if a rule is not enforced for everybody: those that are so for nobody, by their moment. */
  readonly shadow: { readonly early: readonly Rule[]; readonly late: readonly Rule[] } | undefined;
}

/** The rule in force in the place of one that is written. */
export type InForce = (written: Rule) => Rule;

/** Where instrumentation that wraps a handler finds the original: it copies the metadata. */
const ORIGINAL = Symbol.for('nestjs-floodgate:handler');

/** The narrowest identity first: in this order slots of a Redis Cluster are charged. */
const breadth = ({ kind, place }: Rule): number =>
  kind === 'method' ? (place === APPLICATION_PLACE ? 3 : 2) : kind === 'ip' ? 1 : 0;

const countsByOutcome = ({ count }: Rule): boolean => count !== 'all';

/**
 * Which rules apply to which handler. Controllers are known by their prototype, which decorators that wrap a class
 * leave as it is.
 */
export class RulesByHandler {
  // Handlers without rules are in it too: what is not in it stands in for a handler.
  readonly #byPrototype = new Map<object, Map<Handler, readonly Rule[]>>();
  readonly #ordered = new Map<readonly Rule[], HandlerRules>();
  readonly #hasLateMoment: boolean;
  /** Whether lists of clients have something to judge after all guards, whatever the rules. */
  readonly #judgesLate: boolean;
  #inForce: InForce = (written) => written;

  constructor({ guard, allow, deny }: Pick<RateLimitModuleOptions, 'guard' | 'allow' | 'deny'>) {
    this.#hasLateMoment = guard !== 'manual';
    this.#judgesLate = isJudgedLate(allow) || isJudgedLate(deny);
  }

  /** One function may be several methods: all their rules apply then, since requests do not tell which one is meant. */
  add(controller: Class, handler: Handler, rules: readonly Rule[]): void {
    const prototype = controller.prototype as object;
    const handlers = this.#byPrototype.get(prototype) ?? new Map<Handler, readonly Rule[]>();
    this.#byPrototype.set(prototype, handlers);
    const combined = [...new Set([...(handlers.get(handler) ?? []), ...rules])];
    handlers.set(handler, combined);
    this.#ordered.set(combined, byMoment(combined, this.#hasLateMoment, this.#inForce));
    Reflect.defineMetadata(ORIGINAL, handler, handler);
  }

  /** A function that an instance has in place of a method. */
  addReplacement(controller: Class, replacement: Handler, handler: Handler): void {
    this.add(controller, replacement, this.#byPrototype.get(controller.prototype as object)?.get(handler) ?? []);
  }

  /** Takes in which rules are in force now: whether they are in shadow is part of what a handler has. */
  follow(inForce: InForce): void {
    this.#inForce = inForce;
    for (const rules of this.#ordered.keys()) this.#ordered.set(rules, byMoment(rules, this.#hasLateMoment, inForce));
  }

  /** The handlers that have something to decide after all guards. */
  get lateHandlers(): readonly Handler[] {
    return [...this.#byPrototype.values()].flatMap((handlers) =>
      [...handlers].flatMap(([handler, rules]) => {
        const isDecidedLate = rules.some(({ when }) => when !== 'beforeGuards' || this.#judgesLate);
        return this.#hasLateMoment && isDecidedLate ? [handler] : [];
      }),
    );
  }

  /** The handlers whose outcome some rule counts by. */
  get outcomeHandlers(): readonly Handler[] {
    return [...this.#byPrototype.values()].flatMap((handlers) =>
      [...handlers].flatMap(([handler, rules]) => (rules.some(countsByOutcome) ? [handler] : [])),
    );
  }

  /**
   * Undefined where no rule applies.
   * @throws Error for a handler that cannot be matched with the rules of its controller, rather than leave it unlimited
   */
  rulesFor(context: ExecutionContext): HandlerRules | undefined {
    const handlers = this.#byPrototype.get(context.getClass().prototype as object);
    if (!handlers) return undefined;
    const handler = context.getHandler() as Handler;
    const rules = handlers.get(handler) ?? handlers.get(Reflect.getMetadata(ORIGINAL, handler) as Handler);
    if (!rules) return this.#rulesOfBoundMethod(context, handlers);
    return rules.length > 0 ? this.#ordered.get(rules) : undefined;
  }

  /**
   * For a controller made for each request whose constructor bound this method: Nest sees none of the guards written
   * on the method then, the late one neither, so everything is decided early, and no outcome is seen: all calls count.
   */
  #rulesOfBoundMethod(
    context: ExecutionContext,
    handlers: ReadonlyMap<Handler, readonly Rule[]>,
  ): HandlerRules | undefined {
    if ([...handlers.values()].every((rules) => rules.length === 0)) return undefined;
    const { name } = context.getHandler();
    const prototype = context.getClass().prototype as Record<string, Handler | undefined>;
    const method = prototype[name.replace(/^bound /, '')];
    const rules = method && handlers.get(method);
    if (!rules) {
      throw new Error(
        `${context.getClass().name} serves a function "${name}" in place of one of its methods: ` +
          'name it after the method, so that its rules are known',
      );
    }
    return rules.length > 0 ? { ...byMoment(rules, false, this.#inForce), hasOutcome: false } : undefined;
  }
}

function byMoment(rules: readonly Rule[], hasLateMoment: boolean, inForce: InForce): HandlerRules {
  const ordered = [...rules].sort((a, b) => breadth(a) - breadth(b));
  const isLate = ({ when }: Rule): boolean => hasLateMoment && when === 'afterGuards';
  const split = (some: readonly Rule[]): { early: readonly Rule[]; late: readonly Rule[] } => ({
    early: some.filter((rule) => !isLate(rule)),
    late: some.filter(isLate),
  });
  const isEnforced = (rule: Rule): boolean => isEverEnforced(inForce(rule));
  const hasShadow = ordered.some((rule) => isEverInShadow(inForce(rule)));
  const shadow = hasShadow ? split(ordered.filter((rule) => !isEnforced(rule))) : undefined;
  const hasOutcome = ordered.some(countsByOutcome);
  return { ...split(ordered.filter(isEnforced)), hasLateMoment, hasOutcome, shadow };
}
