import { createHmac, timingSafeEqual } from 'node:crypto';

/** Signed tokens, so that every process of the shop knows who logged in at another. */
export class Tokens {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  issue(userId: string): string {
    return `${userId}.${this.#sign(userId)}`;
  }

  /** The user that the token was issued to, if it was. */
  userIn(token: string): string | undefined {
    const [userId = '', signature = ''] = token.split('.');
    const [given, right] = [Buffer.from(signature), Buffer.from(this.#sign(userId))];
    return given.length === right.length && timingSafeEqual(given, right) ? userId : undefined;
  }

  #sign(userId: string): string {
    return createHmac('sha256', this.#secret).update(userId).digest('base64url');
  }
}
