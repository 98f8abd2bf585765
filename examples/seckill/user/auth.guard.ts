import { Injectable, UnauthorizedException, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { fail } from '../result/result.ts';
import { Tokens } from './tokens.ts';
import type { UserRequest } from './user.ts';

/** Lets in who sends the token of a log-in, and leaves the user on the request. */
@Injectable()
export class AuthGuard implements CanActivate {
  constructor(private readonly tokens: Tokens) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<UserRequest>();
    const id = this.tokens.userIn(request.headers.authorization ?? '');
    if (id === undefined) throw new UnauthorizedException(fail('请先登录'));
    request.user = { id };
    return true;
  }
}
