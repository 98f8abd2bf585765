import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { User, UserRequest } from './user.ts';

/** The user that {@link AuthGuard} let in. */
export const CurrentUser = createParamDecorator(
  (_data: unknown, context: ExecutionContext): User | undefined =>
    context.switchToHttp().getRequest<UserRequest>().user,
);
