import type { ExecutionContext } from '@nestjs/common';
import type { Class, Handler } from './place.ts';
import { APPLICATION_PLACE } from './place.ts';
import type { Rule } from './rule.ts';

/** The rules of one handler, by the moment at which they are decided. */
export interface HandlerRules {
  /** Decided before the other guards, as far as they have an identity there. */
  readonly early: readonly Rule[];
  /** Decided after all guards. */
  readonly late: readonly Rule[];
  /** Whether there is a later moment: not so where the application places the guard. */
  readonly hasLateMoment: boolean;
}

/** Where instrumentation that wraps a handler finds the original: it copies the metadata. */
const ORIGINAL = Symbol.for('nestjs-floodgate:handler');

/** The narrowest identity first: in this order slots of a Redis Cluster are charged. */
const breadth = ({ kind, place }: Rule): number =>
  kind === 'method' ? (place === APPLICATION_PLACE ? 3 : 2) : kind === 'ip' ? 1 : 0;

/** Which rules apply to which handler. */
export class HandlerPlans {
  // Handlers without rules are in it too: what is not in it is a copy that somebody made of a handler.
  readonly #byHandler = new Map<Class, Map<Handler, HandlerRules | undefined>>();
  readonly #hasLateMoment: boolean;

  constructor(hasLateMoment: boolean) {
    this.#hasLateMoment = hasLateMoment;
  }

  add(controller: Class, handler: Handler, rules: readonly Rule[]): void {
    const ordered = [...rules].sort((a, b) => breadth(a) - breadth(b));
    const isLate = ({ when }: Rule): boolean => this.#hasLateMoment && when === 'afterGuards';
    const [early, late] = [ordered.filter((rule) => !isLate(rule)), ordered.filter(isLate)];
    Reflect.defineMetadata(ORIGINAL, handler, handler);
    this.#set(controller, handler, rules.length > 0 ? { early, late, hasLateMoment: this.#hasLateMoment } : undefined);
  }

  /** A function that an instance has in place of the handler. */
  addCopy(controller: Class, copy: Handler, handler: Handler): void {
    this.#set(controller, copy, this.#byHandler.get(controller)?.get(handler));
  }

  /** The handlers that have something to decide after all guards. */
  get lateHandlers(): readonly Handler[] {
    return [...this.#byHandler.values()].flatMap((handlers) =>
      [...handlers].flatMap(([handler, rules]) => {
        const isLate = rules?.hasLateMoment && (rules.late.length > 0 || rules.early.some(({ when }) => !when));
        return isLate ? [handler] : [];
      }),
    );
  }

  /**
   * Undefined where no rule applies.
   * @throws Error for a handler that cannot be matched with the rules of its controller, rather than leave it unlimited
   */
  rulesFor(context: ExecutionContext): HandlerRules | undefined {
    const handlers = this.#byHandler.get(context.getClass());
    const handler = context.getHandler() as Handler;
    if (!handlers || handlers.has(handler)) return handlers?.get(handler);
    const original = Reflect.getMetadata(ORIGINAL, handler) as Handler | undefined;
    if (original && handlers.has(original)) return handlers.get(original);
    return rulesOfBoundMethod(context, handlers);
  }

  #set(controller: Class, handler: Handler, rules: HandlerRules | undefined): void {
    const handlers = this.#byHandler.get(controller) ?? new Map<Handler, HandlerRules | undefined>();
    this.#byHandler.set(controller, handlers.set(handler, rules));
  }
}

const allEarly = ({ early, late }: HandlerRules): HandlerRules => ({
  early: [...early, ...late],
  late: [],
  hasLateMoment: false,
});

/**
 * Of a method that an instance made for one request bound in its constructor. Nest sees none of the guards written on
 * the handler then, the late one neither, so everything is decided early.
 */
function rulesOfBoundMethod(
  context: ExecutionContext,
  handlers: ReadonlyMap<Handler, HandlerRules | undefined>,
): HandlerRules | undefined {
  const { name } = context.getHandler();
  const prototype = context.getClass().prototype as Record<string, Handler | undefined>;
  const method = prototype[name.replace(/^bound /, '')];
  if (method && handlers.has(method)) {
    const rules = handlers.get(method);
    return rules && allEarly(rules);
  }
  if ([...handlers.values()].every((rules) => rules === undefined)) return undefined;
  throw new Error(
    `${context.getClass().name} serves a function "${name}" that is none of its methods: its rules are unknown`,
  );
}
