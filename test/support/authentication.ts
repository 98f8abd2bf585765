import { Injectable, UnauthorizedException, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { CallOptions } from './nest-app.ts';

/** The request as the tests' own guards and functions see it. */
export interface TestRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: Readonly<Record<string, unknown>>;
  user?: Readonly<Record<string, unknown>>;
}

export const requestOf = (context: ExecutionContext): TestRequest => context.switchToHttp().getRequest();

/** Lets in who sends `x-user`, leaves the user on the request, and refuses everybody else with 401. */
@Injectable()
export class AuthenticationGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context);
    const { 'x-user': id, 'x-tenant': tenant } = request.headers;
    if (!id) throw new UnauthorizedException();
    request.user = { id, tenant };
    return true;
  }
}

/** A call that authentication lets in. */
export const as = (user: string, tenant?: string): CallOptions => ({
  headers: { 'x-user': user, ...(tenant !== undefined && { 'x-tenant': tenant }) },
});

/** A call from this address, for applications that trust their proxy. */
export const from = (address: string, { headers, ...others }: CallOptions = {}): CallOptions => ({
  ...others,
  headers: { ...headers, 'x-forwarded-for': address },
});
