/** Who is logged in; the library finds the user of USER rules in `request.user.id`. */
export interface User {
  readonly id: string;
}

export interface UserRequest {
  readonly headers: { readonly authorization?: string };
  user?: User;
}
