import { Injectable, UnauthorizedException, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { requestOf } from './authentication.ts';
import type { CallOptions } from './nest-app.ts';

/**
 * Checks the password in a guard, as passport's local strategy does: the body is read there, and what is wrong with it
 * is thrown before any interceptor runs.
 */
@Injectable()
export class LocalAuthGuard implements CanActivate {
  /** So many passwords were checked. */
  static checked = 0;

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    LocalAuthGuard.checked++;
    await new Promise((resolve) => setImmediate(resolve));
    if (request.body?.password !== 'right') throw new UnauthorizedException();
    request.user = { id: request.body.email };
    return true;
  }
}

export const emailOf = (context: ExecutionContext): string | undefined => {
  const email = requestOf(context).body?.email;
  return typeof email === 'string' ? email : undefined;
};

/** A log-in with this password. */
export const logIn = (password: string, email = 'alice@example.org'): CallOptions => ({ body: { email, password } });
