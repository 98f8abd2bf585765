import type { CanActivate, ExecutionContext } from '@nestjs/common';

/**
 * What is still to be decided after all guards, for each invocation of a handler. The arguments array is made once
 * for each invocation and given to all its guards; a request or client object may be shared by several.
 */
const pending = new WeakMap<object, (() => Promise<void>) | undefined>();

/** False when this invocation was begun before: the guard stands on its way twice. */
export function beginInvocation(context: ExecutionContext): boolean {
  const invocation = context.getArgs();
  if (pending.has(invocation)) return false;
  pending.set(invocation, undefined);
  return true;
}

/** Has the late guard of this invocation finish what the early one began. */
export function afterAllGuards(context: ExecutionContext, decide: () => Promise<void>): void {
  pending.set(context.getArgs(), decide);
}

/**
 * Stands behind all guards of the handlers that have something to decide there. One for all applications of the
 * process: it does what the early guard of the application left for the invocation, and nothing else.
 */
export const lateGuard: CanActivate = {
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const invocation = context.getArgs();
    const decide = pending.get(invocation);
    // Once, even if the guard stands here twice.
    if (decide) pending.set(invocation, undefined);
    return decide ? decide().then(() => true) : true;
  },
};
